// The checker of what the client does beside kube-controller-manager: evictions, heartbeats, what it holds.
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import type { Call } from '../call.ts';
import { clockTime, isRemoval, type Violation } from '../terms.ts';
import { isHandedOver } from './handed-over.ts';
import { managers, pauses, type TakeoverHistory } from './takeover-history.ts';
import { nameOf } from './vetoes.ts';

/** Nobody knows the clock of the API server better than this. */
const clockMs = 1_050;
/** Within this time of a pause being known it is in what is published. */
const publishedMs = 15_000;

/** Judged by what the client could know when it sent the first request of an eviction. */
export class OurActsChecker {
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
