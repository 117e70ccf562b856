// A prediction run: the predictions of `explain` on a cluster, and the real events afterwards.

import { ServedCluster } from '@taintmgr/api-server';
import type { Instant } from '@taintmgr/core/time';
import {
  ApiClient,
  EvictorSearch,
  exchangeSink,
  type Transport,
  takeoverLabel,
} from '@taintmgr/k8s-adapter';
import { explainNode } from '@taintmgr/k8s-adapter/explain';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { ClusterReader } from '@taintmgr/k8s-adapter/survey';
import {
  type ApiRequest,
  daemonSet,
  type KubeObject,
  namespace,
  pdb,
  type ResponseSink,
  type TimedToleration,
  taint,
  type User,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { type Evictor, type MakeEvictor, tokens } from './evictor.ts';
import {
  type CastPod,
  daemonSetName,
  endSeconds,
  namespaceName,
  objectOf,
  restartedSeconds,
  restartSeconds,
  type Scenario,
} from './scenario.ts';

/** The prediction for a pod at one moment. */
export interface Prediction {
  readonly at: Instant;
  readonly decision: string;
  readonly deadline: Instant | null;
  readonly isBlocked: boolean;
  /**
   * The time at which it leaves despite a limit that holds it; left out: no limit does, or the time
   * is unknown.
   */
  readonly expectedAt?: Instant;
  /** When it is deleted whatever budgets say; null: never. */
  readonly deletedAt: Instant | null;
}

/** The predictions for a pod, and its real fate. */
export interface PodStory {
  readonly pod: CastPod;
  /** In order; none from before the last change that it depends on. */
  readonly predictions: readonly Prediction[];
  /** When it was deleted or evicted; null: it is there still. */
  readonly removedAt: Instant | null;
}

/** The fields of `-o json` that are read here. */
interface NodeDocument {
  readonly evictor: { readonly name: string };
  readonly pods: readonly {
    readonly name: string;
    readonly decision: string;
    readonly deadline?: string;
    readonly blockers: readonly unknown[];
    readonly deletedAt?: string;
    readonly limit?: { readonly expectedAt?: string };
  }[];
}

/** The result of a run: the evictor's name, and the story of each pod. */
export interface PredictionRun {
  readonly named: readonly string[];
  readonly stories: readonly PodStory[];
}

/** Times are kept in whole seconds: nothing is to happen at the beginning of one. */
const startsAt: Instant = Date.UTC(2026, 0, 2, 3, 4, 5, 300);
const lookEverySeconds = 2;
/** Until definitions are served. */
const installMs = 200;
const policiesResource = 'evictionpolicies.taintmgr.dev';
const pausesResource = 'evictionpauses.taintmgr.dev';
const pauseName = 'night';
const pauseObject: KubeObject = {
  ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause' },
  metadata: { name: pauseName },
  spec: { reason: 'network' },
};
const nodes = ['z-1', 'z-2', 'z-3', 'z-4', 'z-5'];

/** From one second to another. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A kubelet that sends no heartbeat from one second on; its node is unknown at another. */
interface Loss {
  readonly node: string;
  readonly at: number;
  readonly knownAt: number;
}

/** The circumstances of a run beside the scenario. */
export interface Circumstances {
  /** The API server keeps no state but the present one; a real one keeps those of five minutes. */
  readonly forgets?: boolean;
  /** True if the policies of the scenario are in the cluster from the beginning. */
  readonly withPolicies?: boolean;
  /** True if the kinds of taintmgr are installed, so that its leader publishes its decisions. */
  readonly installs?: boolean;
  /** Further policies in the cluster. */
  readonly policies?: readonly KubeObject[];
  /** The span in which all evictions are paused. */
  readonly pause?: Span;
  /** The span in which no pod can be deleted or evicted: the API server answers 500. */
  readonly outage?: Span;
  /** Nodes whose kubelets stop, and when that is known for sure. */
  readonly lost?: readonly Loss[];
  /** True if the order of departures depends on all pods: an event of one pod matters to each. */
  readonly isShared?: boolean;
}

/** Plays the scenario under one evictor, and asks about every node again and again. */
export async function playPredictions(
  make: MakeEvictor,
  circumstances: Circumstances,
  scenario: Scenario,
): Promise<PredictionRun> {
  const { forgets = false } = circumstances;
  const stage = new PredictionStage(make, circumstances, scenario);
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
  readonly #cluster: ServedCluster;
  readonly #evictor: Evictor;
  readonly #client: ApiClient;
  readonly #search: EvictorSearch;
  readonly #said = new Map<string, Prediction[]>();
  readonly #removed = new Map<string, Instant>();
  readonly #named = new Set<string>();
  readonly #circumstances: Circumstances;
  readonly #scenario: Scenario;

  constructor(make: MakeEvictor, circumstances: Circumstances, scenario: Scenario) {
    this.#circumstances = circumstances;
    this.#scenario = scenario;
    const admin = (name: string): User => ({ name, groups: ['system:masters'], rules: [] });
    const users = Object.values(tokens).map((token) => [token, admin(token)] as const);
    this.#cluster = new ServedCluster({
      clock: this.#clock,
      seed: 1,
      without: [
        ...(['workloads', 'garbageCollection'] as const),
        // A controller that deletes the pods of unready nodes watches over the nodes too.
        ...(circumstances.lost ? (['conditionTaints'] as const) : []),
      ],
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
    const { exchange } = this.#cluster;
    this.#evictor = make(this.#cluster, this.#clock, (request, sink) => {
      return this.#isRefused(request) ? refuse(sink) : exchange(request, sink);
    });
    const authorization = `Bearer ${tokens.viewer}`;
    const transport: Transport = {
      send: (request, sink) => {
        const headers = { ...request.headers, authorization };
        return exchange({ ...request, headers }, exchangeSink(sink));
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
    this.#install();
    this.#evictor.start();
  }

  /** Policies are there before anybody looks; which mode is played only the TaintManager says. */
  #install(): void {
    const { withPolicies = false, policies = [], pause, lost, installs } = this.#circumstances;
    const all = [...policies, ...(withPolicies ? this.#scenario.policies : [])];
    if (all.length === 0 && !pause && !lost && !installs) return;
    const { api } = this.#cluster;
    for (const definition of customResourceDefinitions()) {
      api.create('customresourcedefinitions', structuredClone(definition) as object as KubeObject);
    }
    this.#clock.advanceTo(startsAt + installMs);
    for (const policy of all) api.create(policiesResource, policy);
  }

  #isRefused({ method, path }: ApiRequest): boolean {
    const { outage } = this.#circumstances;
    const second = (this.#clock.now() - startsAt) / 1000;
    if (!outage || second < outage.from || second >= outage.to) return false;
    return /[/]pods[/]/.test(path) && (method === 'DELETE' || path.includes('/eviction'));
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
      const { document } = await explainNode(reader, name);
      this.#note(JSON.parse(JSON.stringify(document)) as NodeDocument);
    }
  }

  /** Does what people do at that second, and what befalls the evictor. */
  act(second: number): void {
    const { api } = this.#cluster;
    const { pods, taintings, acts = [] } = this.#scenario;
    if (second === 1) {
      const labels = { [takeoverLabel.key]: takeoverLabel.value };
      const { metadata, ...made } = namespace(namespaceName);
      api.create('namespaces', { ...made, metadata: { ...metadata, labels } });
      api.create('daemonsets', daemonSet(namespaceName, daemonSetName));
      for (const { name, kind } of pods) {
        if (kind !== 'budget') continue;
        api.create('poddisruptionbudgets', pdb(namespaceName, name, { minAvailable: 1 }));
      }
    }
    for (const one of pods) {
      if (one.at === second) {
        const { uid = '' } = api.get('nodes', '', one.node)?.metadata ?? {};
        api.as('kubectl-create').create('pods', objectOf(one, uid));
      }
      if (one.edit?.at === second) this.#edit(one);
    }
    for (const { at, node, taints } of taintings) {
      if (at === second) this.#taint(node, taints);
    }
    for (const { at, carryOut } of acts) if (at === second) carryOut(api);
    const { pause, lost = [] } = this.#circumstances;
    for (const { node, at } of lost) if (at === second) this.#cluster.node(node).stop();
    if (second === pause?.from) api.create(pausesResource, pauseObject);
    if (second === pause?.to) api.delete(pausesResource, '', pauseName);
    if (second === restartSeconds) this.#evictor.restart?.stop();
    if (second === restartedSeconds) this.#evictor.restart?.start();
  }

  result(): PredictionRun {
    const { pause, outage, isShared = false, lost = [] } = this.#circumstances;
    const restart = { from: restartSeconds, to: restartedSeconds };
    const spans = [pause, outage, this.#evictor.restart && restart];
    const { pods } = this.#scenario;
    const others = isShared ? pods.flatMap((pod) => this.#touchesOf(pod)) : [];
    const touches = [...spans.flatMap((span) => (span ? [span.from, span.to] : [])), ...others];
    const stories = pods.map((pod): PodStory => {
      const removedAt = this.#removed.get(pod.name) ?? null;
      const until = removedAt ?? this.#clock.now();
      const ofNode = lost.filter(({ node }) => node === pod.node);
      const losses = ofNode.flatMap(({ at, knownAt }) => [at, knownAt]);
      const touchedAt = lastTouch(until, [...this.#touchesOf(pod), ...touches, ...losses]);
      const said = this.#said.get(pod.name) ?? [];
      const fair = said.filter(
        ({ at }) => at > touchedAt && (removedAt === null || at < removedAt),
      );
      return { pod, removedAt, predictions: fair };
    });
    return { named: [...this.#named], stories };
  }

  /** When something happens to a pod or to its node, in seconds. */
  #touchesOf({ name, at, edit, node }: CastPod): readonly number[] {
    const { taintings, acts = [] } = this.#scenario;
    const ofNode = taintings.filter((tainting) => tainting.node === node);
    const own = acts.filter(({ pods }) => pods.includes(name));
    return [at, ...(edit ? [edit.at] : []), ...[...ofNode, ...own].map((one) => one.at)];
  }

  #note({ evictor, pods }: NodeDocument): void {
    this.#named.add(evictor.name);
    const at = this.#clock.now();
    for (const { name, decision, deadline, blockers, deletedAt, limit } of pods) {
      const said = this.#said.get(name) ?? [];
      const due = deadline === undefined ? null : this.#dueAt(at, Date.parse(deadline));
      said.push({
        ...{ at, decision, deadline: due, isBlocked: blockers.length > 0 },
        deletedAt: deletedAt === undefined ? null : Date.parse(deletedAt),
        ...(limit?.expectedAt !== undefined && { expectedAt: Date.parse(limit.expectedAt) }),
      });
      this.#said.set(name, said);
    }
  }

  /**
   * An overdue pod is due now: where requests fail, the time of the next success is unknown, and
   * under a limit its turn has come.
   */
  #dueAt(at: Instant, deadline: Instant): Instant {
    const { outage, isShared } = this.#circumstances;
    return outage || isShared ? Math.max(at, deadline) : deadline;
  }

  #edit({ name, edit }: CastPod): void {
    const api = this.#cluster.api.as('kubectl-patch');
    const known = api.get('pods', namespaceName, name);
    if (!known || !edit || known.metadata.deletionTimestamp) return;
    const edited = new Set(edit.tolerations.map(({ key }) => key));
    const before: readonly TimedToleration[] = known.spec.tolerations ?? [];
    const others = before.filter(({ key }) => !edited.has(key));
    api.update('pods', {
      ...known,
      spec: { ...known.spec, tolerations: [...edit.tolerations, ...others] },
    });
  }

  /** Taints as kubectl taint does: without timeAdded. */
  #taint(name: string, texts: readonly string[]): void {
    const api = this.#cluster.api.as('kubectl-taint');
    const known = api.get('nodes', '', name);
    if (!known) throw new Error(`there is no node ${name}`);
    api.update('nodes', { ...known, spec: { ...known.spec, taints: texts.map(taint) } });
  }
}

/** The answer of an API server whose storage fails. */
function refuse(sink: ResponseSink): () => void {
  const status = { kind: 'Status', status: 'Failure', code: 500, message: 'etcd: no leader' };
  sink.head(500, { 'content-type': 'application/json' });
  sink.data(JSON.stringify(status));
  sink.end();
  return () => {};
}

/** The time of the last event that affects the fate of a pod, among events at those seconds. */
function lastTouch(until: Instant, seconds: readonly number[]): Instant {
  const instants = seconds.map((second) => startsAt + second * 1000).filter((at) => at <= until);
  return Math.max(...instants);
}
