// One prediction run: what `explain` foretells on a cluster, and what then happens there.
import type { Instant } from '@taintmgr/core/time';
import { ApiClient, EvictorSearch, type Transport } from '@taintmgr/k8s-adapter';
import { ClusterReader } from '@taintmgr/kubectl-taintmgr/src/cluster/reader.ts';
import { nodeSubject } from '@taintmgr/kubectl-taintmgr/src/commands/explain/node.ts';
import { readSubject } from '@taintmgr/kubectl-taintmgr/src/commands/explain/subject.ts';
import { Explainer } from '@taintmgr/kubectl-taintmgr/src/report/explainer.ts';
import { present } from '@taintmgr/kubectl-taintmgr/src/report/question.ts';
import { reportOn } from '@taintmgr/kubectl-taintmgr/src/report/report.ts';
import { Cluster, namespace, pdb, taint, type User, VirtualClock } from '@taintmgr/sim-cluster';
import { type Evictor, type MakeEvictor, tokens } from './evictor.ts';
import {
  type CastPod,
  cast,
  endSeconds,
  namespaceName,
  objectOf,
  restartSeconds,
  taintings,
} from './scenario.ts';

/** What was said of a pod at one moment. */
export interface Prediction {
  readonly at: Instant;
  readonly decision: string;
  readonly deadline: Instant | null;
  readonly isBlocked: boolean;
}

/** What was said of a pod, and what became of it. */
export interface PodStory {
  readonly pod: CastPod;
  /** In order; none from before the last change that it depends on. */
  readonly predictions: readonly Prediction[];
  /** When it was deleted or evicted; null: it is there still. */
  readonly removedAt: Instant | null;
}

/** The answer as `-o json` prints it, as far as it is looked at. */
interface NodeDocument {
  readonly evictor: { readonly name: string };
  readonly pods: readonly {
    readonly name: string;
    readonly decision: string;
    readonly deadline?: string;
    readonly blockers: readonly unknown[];
  }[];
}

/** What a run shows: who was named as the evictor, and the story of each pod. */
export interface PredictionRun {
  readonly named: readonly string[];
  readonly stories: readonly PodStory[];
}

/** Times are kept in whole seconds: nothing is to happen at the beginning of one. */
const startsAt: Instant = Date.UTC(2026, 0, 2, 3, 4, 5, 300);
const lookEverySeconds = 2;
const restartLastsSeconds = 3;
const nodes = ['z-1', 'z-2', 'z-3', 'z-4', 'z-5'];

/**
 * Plays the scenario under one evictor, and asks about every node again and again. An API server that
 * `forgets` keeps no state but the present one; a real one keeps those of five minutes and more.
 */
export async function playPredictions(
  make: MakeEvictor,
  forgets: boolean = false,
): Promise<PredictionRun> {
  const stage = new PredictionStage(make);
  for (let second = 1; second <= endSeconds; second++) {
    stage.runUntil(second);
    if (second % lookEverySeconds === 0) {
      if (forgets) stage.forget();
      await stage.look();
    }
    stage.act(second);
  }
  return stage.result();
}

class PredictionStage {
  readonly #clock = new VirtualClock(startsAt);
  readonly #cluster: Cluster;
  readonly #evictor: Evictor;
  readonly #client: ApiClient;
  readonly #search: EvictorSearch;
  readonly #said = new Map<string, Prediction[]>();
  readonly #removed = new Map<string, Instant>();
  readonly #named = new Set<string>();

  constructor(make: MakeEvictor) {
    const admin = (name: string): User => ({ name, groups: ['system:masters'], rules: [] });
    const users = Object.values(tokens).map((token) => [token, admin(token)] as const);
    this.#cluster = new Cluster({
      clock: this.#clock,
      seed: 1,
      without: ['workloads', 'garbageCollection'],
      topology: {
        region: 'r',
        zones: ['z'],
        nodesPerZone: nodes.length,
        workloads: [],
        budgets: [],
      },
      timing: { startupMs: [50, 100] },
      apiServer: { tokens: new Map(users) },
    });
    this.#evictor = make(this.#cluster, this.#clock);
    const { exchange } = this.#cluster;
    const authorization = `Bearer ${tokens.viewer}`;
    const transport: Transport = {
      send: (request, { head, data, end, failed }) => {
        const headers = { ...request.headers, authorization };
        const reset = (): void => failed('connection reset');
        return exchange({ ...request, headers }, { head, data, end, reset });
      },
    };
    this.#client = new ApiClient({ transport, server: 'https://cluster' });
    this.#search = new EvictorSearch(this.#client, { secondLookMs: 0 });
    this.#cluster.api.subscribe(({ resource, type, object }) => {
      const { name, namespace: ns, deletionTimestamp } = object.metadata;
      const isGoing = type === 'DELETED' || deletionTimestamp !== undefined;
      if (resource !== 'pods' || ns !== namespaceName || !isGoing || this.#removed.has(name))
        return;
      this.#removed.set(name, this.#clock.now());
    });
    this.#cluster.start();
    this.#evictor.start();
  }

  runUntil(second: number): void {
    this.#evictor.runUntil(startsAt + second * 1000);
  }

  /** Past states are gone. */
  forget(): void {
    this.#cluster.api.compact();
  }

  /** Asks about every node as `explain node -o json` does. */
  async look(): Promise<void> {
    for (const name of nodes) {
      const now = (): Instant => this.#clock.now();
      const reader = new ClusterReader(this.#client, undefined, this.#search, now);
      const subject = nodeSubject(name);
      const survey = await readSubject(subject, reader, present);
      const explainer = new Explainer(present);
      explainer.take(survey);
      const context = { survey, question: present, paint: (_: unknown, text: string) => text };
      const { document } = subject.answer(reportOn(survey, explainer), context);
      this.#note(JSON.parse(JSON.stringify(document)) as NodeDocument);
    }
  }

  /** Does what people do at that second, and what befalls the evictor. */
  act(second: number): void {
    const { api } = this.#cluster;
    if (second === 1) {
      api.create('namespaces', namespace(namespaceName));
      for (const name of ['budget', 'budget-4']) {
        api.create('poddisruptionbudgets', pdb(namespaceName, name, { minAvailable: 1 }));
      }
    }
    for (const one of cast) {
      if (one.at === second) api.as('kubectl-create').create('pods', objectOf(one));
      if (one.edit?.at === second) this.#edit(one);
    }
    for (const { at, node, taints } of taintings) {
      if (at === second) this.#taint(node, taints);
    }
    if (second === restartSeconds) this.#evictor.restart?.stop();
    if (second === restartSeconds + restartLastsSeconds) this.#evictor.restart?.start();
  }

  result(): PredictionRun {
    const isRestarted = this.#evictor.restart !== undefined;
    const stories = cast.map((pod): PodStory => {
      const removedAt = this.#removed.get(pod.name) ?? null;
      const until = removedAt ?? this.#clock.now();
      const touchedAt = lastTouch(pod, until, isRestarted);
      const said = this.#said.get(pod.name) ?? [];
      const fair = said.filter(
        ({ at }) => at > touchedAt && (removedAt === null || at < removedAt),
      );
      return { pod, removedAt, predictions: fair };
    });
    return { named: [...this.#named], stories };
  }

  #note({ evictor, pods }: NodeDocument): void {
    this.#named.add(evictor.name);
    const at = this.#clock.now();
    for (const { name, decision, deadline, blockers } of pods) {
      const said = this.#said.get(name) ?? [];
      const due = deadline === undefined ? null : Date.parse(deadline);
      said.push({ at, decision, deadline: due, isBlocked: blockers.length > 0 });
      this.#said.set(name, said);
    }
  }

  #edit({ name, edit }: CastPod): void {
    const api = this.#cluster.api.as('kubectl-patch');
    const known = api.get('pods', namespaceName, name);
    if (!known || !edit || known.metadata.deletionTimestamp) return;
    const others = (known.spec.tolerations ?? []).slice(edit.tolerations.length);
    api.update('pods', {
      ...known,
      spec: { ...known.spec, tolerations: [...edit.tolerations, ...others] },
    });
  }

  /** As kubectl taint does it: it writes no timeAdded. */
  #taint(name: string, texts: readonly string[]): void {
    const api = this.#cluster.api.as('kubectl-taint');
    const known = api.get('nodes', '', name);
    if (!known) throw new Error(`there is no node ${name}`);
    api.update('nodes', { ...known, spec: { ...known.spec, taints: texts.map(taint) } });
  }
}

/** When something last happened that the fate of a pod depends on. */
function lastTouch(pod: CastPod, until: Instant, isRestarted: boolean): Instant {
  const seconds = [
    pod.at,
    ...(pod.edit ? [pod.edit.at] : []),
    ...taintings.filter(({ node }) => node === pod.node).map(({ at }) => at),
    ...(isRestarted ? [restartSeconds, restartSeconds + restartLastsSeconds] : []),
  ];
  const instants = seconds.map((second) => startsAt + second * 1000).filter((at) => at <= until);
  return Math.max(...instants);
}
