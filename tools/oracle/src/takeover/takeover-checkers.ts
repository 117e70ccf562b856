// Judges a takeover: what kube-controller-manager is refused, and what the client does beside it.
import type { Change, ClusterApi, Exchange, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import type { Call } from '../call.ts';
import { isHandedOver } from '../objects.ts';
import { clockTime, isRemoval, type Violation } from '../terms.ts';
import { DoubtsChecker } from './doubts.ts';
import { SparedPodsChecker } from './spared-pods.ts';
import { managers, pauses, policyNames, TakeoverHistory } from './takeover-history.ts';
import { nameOf, VetoChecker } from './vetoes.ts';

/** What somebody else changes so often is left as it is. */
const mends = { max: 5, withinMs: 600_000 } as const;
/** From one heartbeat to the next, and a little. */
const beatMs = 16_000;
/** What becomes of many unreachable nodes at once is held for so long, and zones are looked at. */
const holdMs = 150_000;

/**
 * Judges a client that decides about pods beside a kube-controller-manager that evicts too, from what the
 * API shows, what that one asked and was answered, and what the client asked: by the plain rule.
 * Lead the requests of kube-controller-manager through `line`.
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

  /** How many pods kube-controller-manager was refused so far. */
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

  /** When nobody decides any more, and kube-controller-manager has begun anew at `since`. */
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

/** Nobody knows the clock of the API server better than this. */
const clockMs = 1_050;
/** Within this time of a pause being known it is in what is published. */
const publishedMs = 15_000;

/** Judged by what the client could know when it sent the first request of an eviction. */
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

/** Whether no pod at all is to be marked not ready. */
function holdsReadiness({ spec: { readiness, scope = {} } }: KubeObject): boolean {
  return readiness === true && Object.keys(scope).length === 0;
}

/** Whether deadlines of pods of that namespace stand still, on every node and for every taint. */
function holdsDeadlines({ spec }: KubeObject, namespace: string): boolean {
  const { deadlines = true, scope = {} } = spec;
  const { namespaces = [], ...others } = scope;
  const isWide = Object.keys(others).length === 0;
  return deadlines && isWide && (namespaces.length === 0 || namespaces.includes(namespace));
}
