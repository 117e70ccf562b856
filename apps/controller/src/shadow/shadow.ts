// In a dry run: what kube-controller-manager evicts, held against what would be evicted here.
import type { Engine, PodRef } from '@taintmgr/core';
import { deletedOf, type ShadowReport, ShadowScore } from '@taintmgr/core/shadow';
import { formatTime, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import {
  ApiClient,
  type ApiRequest,
  type ClusterConfig,
  HttpTransport,
  listRequest,
  type Machine,
} from '@taintmgr/k8s-adapter';
import type { ControllerName } from '../flags/controllers.ts';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import { version } from '../version.ts';

/** Keeps score while the controller runs. */
export interface Shadow {
  /** The machine with the shadow around it; `explain`: the engine's. */
  around(machine: Machine, explain: Engine['explain']): Machine;
  /** Null: it has not begun. */
  report(): ShadowReport | null;
  close(): void;
}

interface ShadowOptions {
  readonly settings: Settings;
  readonly controllers: readonly ControllerName[];
  readonly cluster: ClusterConfig;
  readonly log: Logger;
}

/** Null: something is done here, or pods are not evicted for taints. */
export function createShadow({
  settings: { dryRun, mode },
  controllers,
  cluster,
  log,
}: ShadowOptions): Shadow | null {
  if (dryRun === 'none' || !controllers.includes('taint-eviction-controller')) return null;
  let score: ShadowScore | null = null;
  const answer: ShadowScore['said'] = (uid, at) => score?.said(uid, at);
  const events = new UpstreamEvents({ cluster, log, answer });
  return {
    around(machine, explain) {
      score = new ShadowScore(machine, { mode, explain, doubt: (pod) => events.ask(pod) });
      return score;
    },
    report: () => score?.report() ?? null,
    close: () => events.close(),
  };
}

/** The facts that /statusz has of it, in order. */
export function shadowFacts(
  report: ShadowReport | null,
): Readonly<Record<string, string | number>> {
  if (!report) return {};
  const { since, counts, following, notDeleted, leftOtherwise, givenUp } = report;
  return {
    'Shadow since': since === null ? 'not yet' : formatTime(since),
    'Shadow: deleted by kube-controller-manager': deletedOf(counts),
    'Shadow: taintmgr in the same instant': counts.same,
    'Shadow: taintmgr earlier': counts.earlier,
    'Shadow: taintmgr later': counts.later,
    'Shadow: taintmgr would have kept': counts.kept,
    'Shadow: budgets would have been asked': counts.budgetsAsked,
    'Shadow: only taintmgr would have evicted': counts.onlyTaintmgr,
    'Shadow: no verdict yet': following,
    'Shadow: without a verdict': notDeleted + leftOtherwise + givenUp,
  };
}

interface UpstreamEventsOptions {
  readonly cluster: ClusterConfig;
  readonly log: Logger;
  /** Hears when the pod was marked, by the clock of the cluster; null: Events do not say that it was. */
  readonly answer: (uid: string, at: Instant | null) => void;
}

/** The number of questions that are under way at once; a pod beyond counts as removed by another program. */
const askedMax = 20;
/** Of the Events about one pod. */
const eventsMax = 50;
/** An older Event may be about a pod of the same name that came before. */
const ageMsMax: Millis = 300_000;

/**
 * One read of the Events about each pod in question. kube-controller-manager names the pod and not its uid.
 * kube-controller-manager writes "Marking for deletion" before it asks, also for pods that then stay, and
 * "Cancelling deletion" for those it spares: so only the last word about a pod that is gone counts.
 */
class UpstreamEvents {
  readonly #options: UpstreamEventsOptions;
  readonly #transport: HttpTransport;
  readonly #client: ApiClient;
  #asked = 0;
  #isRefusalLogged = false;

  constructor(options: UpstreamEventsOptions) {
    const { access, requestTimeout } = options.cluster;
    this.#options = options;
    this.#transport = new HttpTransport(access, `taintmgr-controller/${version}`);
    const transport = this.#transport;
    this.#client = new ApiClient({ transport, server: access.server, requestTimeout });
  }

  /** The answer comes by `answer`; always one, and never before this returns. */
  ask(pod: PodRef): void {
    if (this.#asked >= askedMax) {
      setImmediate(() => this.#options.answer(pod.uid, null));
      return;
    }
    this.#asked += 1;
    void this.#read(pod).then((at) => {
      this.#asked -= 1;
      const fields = { pod: `${pod.namespace}/${pod.name}`, isMarked: at !== null };
      this.#options.log.debug(fields, 'read Events about a pod that is gone');
      this.#options.answer(pod.uid, at);
    });
  }

  close(): void {
    this.#transport.close();
  }

  async #read(pod: PodRef): Promise<Instant | null> {
    try {
      const { value, serverTime } = await this.#client.ask(eventsRequest(pod));
      const at = markedAt((value as EventList).items ?? [], pod);
      return at !== null && (serverTime ?? Date.now()) - at <= ageMsMax ? at : null;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!this.#isRefusalLogged) this.#options.log.info({ error: why }, cannotRead);
      this.#isRefusalLogged = true;
      return null;
    }
  }
}

const cannotRead =
  'could not read Events: pods that are gone before their mark was seen count as removed by others';

/** The part of an Event that matters here. */
interface UpstreamEvent {
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

interface EventList {
  readonly items?: readonly UpstreamEvent[];
}

function eventsRequest({ namespace, name }: PodRef): ApiRequest {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name},reason=TaintManagerEviction`;
  return listRequest(path, { fieldSelector, limit: eventsMax });
}

/** When the pod was marked for deletion, if that is the last word about it; null: it is not. */
export function markedAt(
  events: readonly UpstreamEvent[],
  { namespace, name }: Pick<PodRef, 'namespace' | 'name'>,
): Instant | null {
  const last = events
    .filter((event) => !isOurs(event))
    .map((event) => ({ at: timeOf(event), message: event.message ?? '' }))
    .filter(({ at }) => at !== null)
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .at(-1);
  return last?.message === `Marking for deletion Pod ${namespace}/${name}` ? last.at : null;
}

/** An installation of ours says the same of the pods that it evicts. */
function isOurs({ source, reportingComponent }: UpstreamEvent): boolean {
  return (reportingComponent || source?.component || '').startsWith('taintmgr');
}

function timeOf({ lastTimestamp, eventTime }: UpstreamEvent): Instant | null {
  return parseTime(lastTimestamp || eventTime || '');
}
