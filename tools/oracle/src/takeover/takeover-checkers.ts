// Judges a takeover: what kube-controller-manager is refused, and what the client does beside it.
import type {
  ApiRequest,
  Change,
  ClusterApi,
  Exchange,
  KubeObject,
  ResponseSink,
} from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import type { Call } from '../call.ts';
import { isHandedOver, nameOf } from '../objects.ts';
import { noExecuteTaints, toleratedMs } from '../taint-rule.ts';
import { clockTime, isRemoval, type Violation } from '../terms.ts';
import { DoubtsChecker, placeOf } from './doubts.ts';
import {
  managers,
  type PolicyName,
  pauses,
  policyNames,
  TakeoverHistory,
} from './takeover-history.ts';

/** The client stops repairing an object that others change this often. */
const mends = { max: 5, withinMs: 600_000 } as const;
/** From one heartbeat to the next, and a little. */
const beatMs = 16_000;
/**
 * The time for which pods of many simultaneously unreachable nodes are held, and zones are looked
 * at.
 */
const holdMs = 150_000;

/**
 * Judges a client that decides about pods beside a kube-controller-manager that evicts too, from
 * the state of the API, that controller's requests and answers, and the client's requests: by the
 * plain rule. Lead the requests of kube-controller-manager through `line`.
 */
export class TakeoverCheckers {
  readonly #api: ClusterApi;
  readonly #violations: Violation[] = [];
  readonly #history: TakeoverHistory;
  readonly #vetoes: VetoChecker;
  readonly #spared: SparedPodsChecker;
  /** Since when every node has been ready; Infinity: one is not. */
  #readySince: number = Number.POSITIVE_INFINITY;

  /** `holdsFullDisruption`: pods of a zone that is down as a whole stay ready. */
  constructor(api: ClusterApi, apiHistory: ApiHistory, holdsFullDisruption: boolean = false) {
    this.#api = api;
    const report = (violation: Violation): void => void this.#violations.push(violation);
    this.#history = new TakeoverHistory(api, apiHistory);
    this.#vetoes = new VetoChecker(api, this.#history, report);
    this.#spared = new SparedPodsChecker(api, apiHistory, this.#history, this.#vetoes, report);
    new OurActsChecker(api, apiHistory, this.#history, report);
    new DoubtsChecker(api, apiHistory, this.#history, holdsFullDisruption, report);
    api.subscribe(({ resource }) => {
      if (resource === 'nodes') this.#lookAtNodes();
    });
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** The number of pods that kube-controller-manager was refused so far. */
  get refused(): number {
    return this.#vetoes.refusals.size;
  }

  line(exchange: Exchange): Exchange {
    return this.#vetoes.line(exchange);
  }

  /** At the end of a time since `calmSince` in which all worked undisturbed. */
  atCalm(calmSince: number): void {
    this.#spared.atCalm(calmSince);
    const at = this.#api.clock.now();
    for (const name of policyNames) {
      for (const key of this.#history.faults(name, at)) {
        if (this.#history.writes(key, at - mends.withinMs) >= mends.max) continue;
        this.#violations.push({ invariant: 'policy not put back', at, evidence: key });
      }
    }
    const status = this.#api.get(managers, '', 'taintmgr')?.status;
    const age = at - Date.parse(status?.renewTime ?? '');
    if (!(age <= beatMs)) {
      const evidence = `the last one is of ${status?.renewTime ?? 'never'}`;
      this.#violations.push({ invariant: 'no heartbeat', at, evidence });
    }
    if (status && status.takeover?.enabled !== true) {
      const evidence = JSON.stringify(status.takeover);
      this.#violations.push({ invariant: 'does not say that it decides', at, evidence });
    }
    const pauses = this.#api.list('evictionpauses.taintmgr.dev');
    const isHeld = pauses.some(({ spec }) => spec.readiness);
    const hold = status?.takeover?.holdReadiness;
    if (!hold || isHeld || !(at - this.#readySince > holdMs)) return;
    const evidence = `all nodes ready since ${clockTime(this.#readySince)}: ${hold.reason}`;
    this.#violations.push({ invariant: 'readiness held for nothing', at, evidence });
  }

  /** No client decides any more, and kube-controller-manager has restarted at `since`. */
  atGone(since: number): void {
    this.#spared.atGone(since);
  }

  #lookAtNodes(): void {
    const isReady = this.#api.list('nodes').every(({ status }) => {
      const conditions: readonly { readonly type: string; readonly status: string }[] =
        status?.conditions ?? [];
      return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
    });
    if (!isReady) this.#readySince = Number.POSITIVE_INFINITY;
    else this.#readySince = Math.min(this.#readySince, this.#api.clock.now());
  }
}

/** The clock of the API server is known no more exactly than this. */
const clockMs = 1_050;
/** The time after which a known pause is in the published status. */
const publishedMs = 15_000;

/** Judged by the client's possible knowledge when it sent the first request of an eviction. */
class OurActsChecker {
  readonly #apiHistory: ApiHistory;
  readonly #history: TakeoverHistory;
  readonly #report: (violation: Violation) => void;
  readonly #now: () => number;

  constructor(
    api: ClusterApi,
    apiHistory: ApiHistory,
    history: TakeoverHistory,
    report: (violation: Violation) => void,
  ) {
    this.#apiHistory = apiHistory;
    this.#history = history;
    this.#report = report;
    this.#now = () => api.clock.now();
    api.subscribe((change) => this.#observe(change));
  }

  #observe({ resource, type, object, previous }: Change): void {
    const { actor } = this.#apiHistory;
    if (!actor || !previous) return;
    if (resource === managers && type === 'MODIFIED') this.#judgeHeartbeat(actor, object);
    if (resource !== 'pods' || !isRemoval(actor)) return;
    if (previous.metadata.deletionTimestamp !== undefined) return;
    const goes = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
    if (goes) this.#judgeEviction(actor, previous);
  }

  #judgeEviction(by: Call, pod: KubeObject): void {
    const { calls, known } = this.#apiHistory;
    const decidedAt = calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    const { namespace = '' } = pod.metadata;
    const since = known.inTurnUpTo(by.run, 'namespaces', decidedAt);
    const seen = this.#history.during('namespaces', namespace, since, decidedAt);
    const what = `${nameOf(pod)}, run ${by.run}, decided ${clockTime(decidedAt)}`;
    if (!seen.some(({ object }) => isHandedOver(object))) {
      const evidence = `${what}, knew namespaces up to ${clockTime(since)}`;
      this.#report({ invariant: 'evicts what is not handed over', at: this.#now(), evidence });
    }
    const pausesKnown = known.inTurnUpTo(by.run, 'pauses', decidedAt);
    const name = this.#history.names(pauses).find((one) =>
      this.#history.during(pauses, one, pausesKnown, decidedAt).every(({ at, object }) => {
        return at < decidedAt && object && holdsDeadlines(object, namespace);
      }),
    );
    if (name === undefined) return;
    const evidence = `${what}, knew pauses up to ${clockTime(pausesKnown)}, where ${name} was there`;
    this.#report({ invariant: 'evicts in a pause', at: this.#now(), evidence });
  }

  #judgeHeartbeat({ run, sentAt }: Call, { status }: KubeObject): void {
    const at = this.#now();
    const renewedAt = Date.parse(status?.renewTime ?? '');
    if (renewedAt > at + clockMs) {
      const evidence = `run ${run} wrote ${status?.renewTime} at ${clockTime(at)}`;
      this.#report({ invariant: 'heartbeat of the future', at, evidence });
    }
    const known = this.#apiHistory.known.inTurnUpTo(run, 'pauses', sentAt - publishedMs);
    const name = this.#history
      .names(pauses)
      .find((one) =>
        this.#history
          .during(pauses, one, known, sentAt)
          .every(({ object }) => object && holdsReadiness(object)),
      );
    if (name === undefined || status?.takeover?.holdReadiness?.all === true) return;
    const evidence = `run ${run}, sent ${clockTime(sentAt)}, beside pause ${name}: ${JSON.stringify(status?.takeover)}`;
    this.#report({ invariant: 'readiness not held in a pause', at, evidence });
  }
}

/** True if no pod may be marked not ready. */
function holdsReadiness({ spec: { readiness, scope = {} } }: KubeObject): boolean {
  return readiness === true && Object.keys(scope).length === 0;
}

/** True if deadlines of pods of that namespace stand still, on every node and for every taint. */
function holdsDeadlines({ spec }: KubeObject, namespace: string): boolean {
  const { deadlines = true, scope = {} } = spec;
  const { namespaces = [], ...others } = scope;
  const isWide = Object.keys(others).length === 0;
  return deadlines && isWide && (namespaces.length === 0 || namespaces.includes(namespace));
}

/** The time by which an Event says why a refused pod stays: 20 a second are looked at. */
const recordedMs = 60_000;
/** The time by which the mark of a cancelled eviction is gone. */
const unmarkedMs = 60_000;
/** The time that kube-controller-manager takes to act on a due pod. */
const dueMs = 20_000;
const heldReason = 'TaintManagerEvictionHeld';
/** The hold of a zone, with its end. */
const zoneHold =
  /deadlines are paused by the hold of (?:zone (\S+) until one of its nodes|the nodes without a zone until one of them) is ready$/;

/** Looks at the remaining pods after an undisturbed time, or when no client decides. */
class SparedPodsChecker {
  readonly #api: ClusterApi;
  readonly #apiHistory: ApiHistory;
  readonly #history: TakeoverHistory;
  readonly #vetoes: VetoChecker;
  readonly #report: (violation: Violation) => void;
  /** Since when pods bear a mark of the client, by uid. */
  readonly #marked = new Map<string, number>();
  /** When the spec of a pod or the taints of a node last changed, by uid and name. */
  readonly #changed = new Map<string, number>();
  /** Zones that nodes are, or were, in; '': none. */
  readonly #zones = new Set<string>();

  constructor(
    api: ClusterApi,
    apiHistory: ApiHistory,
    history: TakeoverHistory,
    vetoes: VetoChecker,
    report: (violation: Violation) => void,
  ) {
    this.#api = api;
    this.#apiHistory = apiHistory;
    this.#history = history;
    this.#vetoes = vetoes;
    this.#report = report;
    for (const node of api.list('nodes')) this.#zones.add(placeOf(node));
    api.subscribe(({ resource, object, previous }) => {
      if (resource !== 'pods' && resource !== 'nodes') return;
      const { uid = '', name } = object.metadata;
      if (resource === 'nodes') this.#zones.add(placeOf(object));
      const isSame = partOf(object) === partOf(previous);
      if (!isSame) this.#changed.set(resource === 'pods' ? uid : name, api.clock.now());
      if (resource === 'pods') this.#followMark(uid, object, previous, apiHistory.actor !== null);
    });
  }

  /** A leader has decided since `calmSince`, and nothing was wrong. */
  atCalm(calmSince: number): void {
    const now = this.#api.clock.now();
    const recorded = new Set(
      this.#api
        .list('events')
        .filter((event) => event.reason === heldReason && this.#isTrue(event))
        .map(({ involvedObject }) => involvedObject?.uid),
    );
    const beganAt = this.#beganAt(calmSince);
    for (const pod of this.#present()) {
      const { uid = '', namespace = '' } = pod.metadata;
      const since = this.#history.during('namespaces', namespace, calmSince, now);
      if (!since.every(({ object }) => isHandedOver(object))) continue;
      const { at: refusedAt } = this.#vetoes.refusals.get(uid) ?? { at: 0 };
      const isRefused = refusedAt > Math.max(calmSince, this.#changedAt(pod));
      // A run that began later than a taint may know of no start but its own. A pod refused at
      // about the end of its last taint is held by nothing.
      const knownAt = Math.max(refusedAt, beganAt + this.#waitOf(pod));
      if (isRefused && now - knownAt > recordedMs && !recorded.has(uid)) {
        const evidence = `${nameOf(pod)} was refused at ${clockTime(refusedAt)}, and is there`;
        this.#report({ invariant: 'nothing says why it is held', at: now, evidence });
      }
      const markedAt = Math.max(this.#marked.get(uid) ?? now, calmSince, this.#changedAt(pod));
      const goes = this.#waitOf(pod) < Number.POSITIVE_INFINITY;
      if (goes || now - markedAt <= unmarkedMs) continue;
      const evidence = `${nameOf(pod)} stays, and is marked since ${clockTime(markedAt)}`;
      this.#report({ invariant: 'mark not taken away', at: now, evidence });
    }
  }

  /**
   * No client has decided for long enough that nothing is refused; kube-controller-manager
   * restarted at `since`.
   */
  atGone(since: number): void {
    const now = this.#api.clock.now();
    for (const pod of this.#present()) {
      const dueAt = Math.max(since, this.#changedAt(pod)) + this.#waitOf(pod);
      if (dueAt + dueMs > now) continue;
      const evidence = `${nameOf(pod)} was due ${clockTime(dueAt)}`;
      this.#report({ invariant: 'spared though nobody decides', at: now, evidence });
    }
  }

  /** When the last of those began that have decided since then. */
  #beganAt(calmSince: number): number {
    const beats = this.#history.during(managers, 'taintmgr', calmSince, this.#api.clock.now());
    const began = beats.map(({ by }) => by && this.#apiHistory.known.firstOf(by.run, 'nodes'));
    return Math.max(Number.NEGATIVE_INFINITY, ...began.filter((at) => at !== null));
  }

  #followMark(uid: string, pod: KubeObject, previous: KubeObject | null, byUs: boolean): void {
    if (!isMarked(pod)) this.#marked.delete(uid);
    else if (byUs && !isMarked(previous)) this.#marked.set(uid, this.#api.clock.now());
  }

  /** The pods on nodes, without terminating ones. */
  #present(): readonly KubeObject[] {
    return this.#api
      .list('pods')
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.nodeName);
  }

  /** For how long kube-controller-manager lets a pod be; Infinity: for ever. */
  #waitOf(pod: KubeObject): number {
    const node = this.#api.get('nodes', '', pod.spec.nodeName);
    const times = noExecuteTaints(node).map((taint) => toleratedMs(pod, taint));
    return Math.min(Number.POSITIVE_INFINITY, ...times);
  }

  #changedAt({ metadata, spec }: KubeObject): number {
    const [pod, node] = [metadata.uid ?? '', spec.nodeName].map((key) => this.#changed.get(key));
    return Math.max(pod ?? 0, node ?? 0);
  }

  /** A pause or a policy that an Event names has been there. */
  #isTrue({ message = '', involvedObject }: KubeObject): boolean {
    const { namespace, name } = involvedObject ?? {};
    const head = `taintmgr decides about Pod ${namespace}/${name}, not kube-controller-manager: `;
    if (!message.startsWith(head) || message.length === head.length) return false;
    // The message about a zone that is down names the zone.
    const [isZone, zone = ''] = zoneHold.exec(message) ?? [];
    if (isZone) return this.#zones.has(zone);
    if (message.includes('deadlines are paused by the hold ')) return false;
    const [, pause] = /deadlines are paused by ([\w-]+)(?: |$)/.exec(message) ?? [];
    return (
      pause === undefined || this.#history.names('evictionpauses.taintmgr.dev').includes(pause)
    );
  }
}

function isMarked(pod: KubeObject | null): boolean {
  return (pod?.status?.conditions ?? []).some(isMark);
}

function partOf(object: KubeObject | null): string {
  return JSON.stringify([
    object?.metadata.uid,
    object?.spec?.nodeName,
    object?.spec?.tolerations,
    object?.spec?.taints,
  ]);
}

/**
 * A request of kube-controller-manager: to mark a pod before it deletes it, or to mark it not
 * ready.
 */
interface Asked {
  readonly policy: PolicyName;
  readonly pod: KubeObject;
  /** True if a pod with these conditions has the requested one. */
  readonly isDone: (conditions: readonly Condition[]) => boolean;
}

/** A mark that it was refused. */
interface Refusal {
  readonly at: number;
  readonly pod: KubeObject;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

const statusPath = /^\/api\/v1\/namespaces\/([^/?]+)\/pods\/([^/?]+)\/status(?:\?|$)/;
const freshMs = 60_000;
const byPolicy = "ValidatingAdmissionPolicy 'taintmgr-";

/**
 * Lead all requests of kube-controller-manager through `line`. The pods show the allowed requests,
 * and the answers the refused ones; the expected answers follow from the label of the namespace,
 * the heartbeat, the policies, and the API server's clock.
 */
class VetoChecker {
  /** By uid of the pod, the latest. */
  readonly refusals: Map<string, Refusal> = new Map();
  readonly #api: ClusterApi;
  readonly #history: TakeoverHistory;
  readonly #report: (violation: Violation) => void;
  #asked: Asked | null = null;

  constructor(api: ClusterApi, history: TakeoverHistory, report: (violation: Violation) => void) {
    this.#api = api;
    this.#history = history;
    this.#report = report;
    api.subscribe((change) => this.#observe(change));
  }

  line(exchange: Exchange): Exchange {
    return (request, sink) => {
      const asked = this.#askedBy(request);
      if (!asked) return exchange(request, sink);
      const before = this.#asked;
      this.#asked = asked;
      try {
        return exchange(request, this.#listening(asked, sink));
      } finally {
        this.#asked = before;
      }
    };
  }

  #askedBy({ method, path, body }: ApiRequest): Asked | null {
    const [, namespace = '', name = ''] = statusPath.exec(path) ?? [];
    if (name === '' || method === 'GET' || typeof body !== 'string') return null;
    const pod = this.#api.get('pods', namespace, name);
    const conditions: readonly Condition[] = JSON.parse(body).status?.conditions ?? [];
    if (!pod) return null;
    const mark = conditions.find(isMark);
    const isDone = (all: readonly Condition[]): boolean =>
      all.some((one) => isMark(one) && one.message === mark?.message);
    if (mark && !isDone(marksOf(pod))) return { policy: 'taintmgr-takeover', pod, isDone };
    const unready = conditions.find(isNotReady);
    const looked = conditions.some((one) => {
      return one.type === 'ContainersReady' && one.status === 'False';
    });
    const wasReady = marksOf(pod).some((one) => one.type === 'Ready' && one.status === 'True');
    if (!unready || looked || !wasReady) return null;
    return { policy: 'taintmgr-readiness', pod, isDone: (all) => all.some(isNotReady) };
  }

  #listening(asked: Asked, sink: ResponseSink): ResponseSink {
    let text = '';
    let code = 0;
    return {
      ...sink,
      head: (status, headers) => {
        code = status;
        sink.head(status, headers);
      },
      data: (chunk) => {
        if (code === 403) text += chunk;
        sink.data(chunk);
      },
      end: () => {
        if (text.includes(byPolicy)) this.#refused(asked);
        sink.end();
      },
    };
  }

  /** Its request was stored. */
  #observe({ resource, type, object }: Change): void {
    const asked = this.#asked;
    if (!asked || resource !== 'pods' || type !== 'MODIFIED') return;
    if (object.metadata.uid !== asked.pod.metadata.uid) return;
    if (!asked.isDone(marksOf(object))) return;
    this.#asked = null;
    const at = this.#api.clock.now();
    const namespaces = this.#history.namespaceKnown(asked.pod.metadata.namespace ?? '', at);
    const beats = this.#history.heartbeatsKnown(at);
    const isToBeRefused =
      namespaces.every(isHandedOver) &&
      beats.every((beat) => isFresh(beat, at) && holds(beat, asked)) &&
      this.#history.stands(asked.policy, at);
    if (!isToBeRefused) return;
    const invariant =
      asked.policy === 'taintmgr-takeover'
        ? 'marked beside a fresh heartbeat'
        : 'not ready beside a hold';
    this.#report({ invariant, at, evidence: `${nameOf(asked.pod)}: ${written(asked, at, beats)}` });
  }

  #refused(asked: Asked): void {
    const at = this.#api.clock.now();
    const { pod, policy } = asked;
    if (policy === 'taintmgr-takeover') this.refusals.set(pod.metadata.uid ?? '', { at, pod });
    const namespaces = this.#history.namespaceKnown(pod.metadata.namespace ?? '', at);
    const beats = this.#history.heartbeatsKnown(at);
    const because = [
      ...(namespaces.some(isHandedOver) ? [] : ['its namespace was not handed over']),
      ...(beats.some((beat) => isFresh(beat, at)) ? [] : ['no heartbeat was fresh']),
      ...(beats.some((beat) => holds(beat, asked)) ? [] : ['nothing was held']),
      ...(this.#history.mayStand(policy, at) ? [] : ['there was no policy']),
    ];
    if (because.length === 0) return;
    const evidence = `${nameOf(pod)}: ${because.join(', ')}; ${written(asked, at, beats)}`;
    this.#report({ invariant: 'refused without a right', at, evidence });
  }
}

type Beat = KubeObject['status'] | null;

/**
 * True if a client decides: the heartbeat is within a minute of the time that the API server gives
 * the request.
 */
function isFresh(beat: Beat, at: number): boolean {
  const renewedAt = Date.parse(beat?.renewTime ?? '');
  return beat?.takeover?.enabled === true && Math.abs(wholeSecond(at) - renewedAt) <= freshMs;
}

/** The time in managedFields has no fraction. */
function wholeSecond(at: number): number {
  return at - (at % 1000);
}

/** Evictions are always held, readiness where the heartbeat says so. */
function holds(beat: Beat, { policy, pod }: Asked): boolean {
  if (policy === 'taintmgr-takeover') return true;
  const hold = beat?.takeover?.holdReadiness;
  if (!hold) return false;
  const place = placeOf(pod);
  return (
    hold.all === true ||
    (hold.nodes ?? []).includes(pod.spec.nodeName) ||
    (place !== '' && (hold.zones ?? []).includes(place))
  );
}

function marksOf(pod: KubeObject): readonly Condition[] {
  return pod.status?.conditions ?? [];
}

/** True if this condition precedes a deletion for a taint. */
function isMark({ type, status, reason }: Condition): boolean {
  return type === 'DisruptionTarget' && status === 'True' && reason === 'DeletionByTaintManager';
}

function isNotReady({ type, status }: Condition): boolean {
  return type === 'Ready' && status === 'False';
}

function written(asked: Asked, at: number, beats: readonly Beat[]): string {
  const renewals = beats.map((beat) => beat?.renewTime ?? 'none').join(', ');
  return `${asked.policy}, written ${clockTime(wholeSecond(at))}, heartbeat ${renewals}`;
}
