// The checkers of replicas: only the elected one acts, and the last one that works stays.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { Call, CallKind } from './call.ts';
import { Checker, type Evidence } from './evidence.ts';
import { readinessOf } from './lifecycle/node-rule.ts';
import type { ObservedChange } from './object-history.ts';
import { clockTime, isRemoval, type Violation } from './terms.ts';

/** The holder of the lease from an instant on. */
interface Tenure {
  readonly at: number;
  /** The run that wrote itself into it; null: no holder. */
  readonly run: number | null;
}

/** The calls that only the leader may send. */
const leading: readonly CallKind[] = [
  'markPod',
  'changePodStatus',
  'deletePod',
  'evictPod',
  'changeNode',
  'changeNodeStatus',
];
const heartbeats = 'kube-node-lease';
/** client-go's renew deadline, and as much again as a step of a clock may be too short to notice. */
const renewedMsMax = 10_500;

/**
 * Of several replicas only the one that holds the lease acts: when it sends a write, no other
 * replica has taken the lease, the lease has not been released, and it was renewed recently, so
 * that no other replica can have taken it before the write arrives. All times are those of the API,
 * independent of the replicas' clocks.
 */
export class LeadershipChecker {
  readonly #apiHistory: ApiHistory;
  readonly #report: (violation: Violation) => void;
  readonly #tenures: Tenure[] = [];
  readonly #renewals = new Map<number, number[]>();
  readonly #runs = new Map<string, number>();

  constructor(apiHistory: ApiHistory, report: (violation: Violation) => void) {
    this.#apiHistory = apiHistory;
    this.#report = report;
  }

  observe({ at, change: { type, resource, object }, by }: ObservedChange): void {
    if (resource !== 'leases' || object.metadata.namespace === heartbeats) return;
    // A lease that never had a holder is a record of something else, and elects no leader.
    const { holderIdentity } = object.spec;
    if (holderIdentity === undefined) return;
    const holder: string = type === 'DELETED' ? '' : holderIdentity;
    const run = holder === '' ? null : this.#runOf(holder, by);
    this.#tenures.push({ at, run });
    if (run !== null) this.#renewals.set(run, [...(this.#renewals.get(run) ?? []), at]);
  }

  /**
   * Each run has a different name. A request that a run sends while it receives another run's
   * change is taken for that change.
   */
  #runOf(holder: string, by: Call | null): number | null {
    const run = this.#runs.get(holder) ?? by?.run ?? null;
    if (run !== null) this.#runs.set(holder, run);
    return run;
  }

  /** Called once, when everything is over. */
  atEnd(): void {
    for (const { kind, run, sentAt: at, target } of this.#apiHistory.calls.all) {
      if (!leading.includes(kind)) continue;
      // A run that held the lease at some time of the same instant may have sent the write then.
      const first = this.#tenures.findLastIndex((tenure) => tenure.at < at);
      const holders = this.#tenures
        .slice(Math.max(0, first))
        .filter((tenure) => tenure.at <= at)
        .map((tenure) => tenure.run);
      const sent = `run ${run} sent ${kind} ${target} at ${clockTime(at)}`;
      if (!holders.includes(run)) {
        const holder = holders.at(-1) ?? null;
        const held = holder === null ? 'nobody holds' : `run ${holder} holds`;
        const evidence = `${sent}, where ${held} the lease`;
        this.#report({ invariant: 'acts without the lease', at, evidence });
        return;
      }
      const renewedAt = this.#renewals.get(run)?.findLast((renewal) => renewal <= at) ?? at;
      if (at - renewedAt <= renewedMsMax) continue;
      const evidence = `${sent}, and renewed the lease last at ${clockTime(renewedAt)}`;
      this.#report({ invariant: 'acts on an old lease', at, evidence });
      return;
    }
  }
}

/**
 * The checker of self-preservation: a client never removes the last of its own replicas that works,
 * by its possible knowledge. All pods of its namespace are its replicas, and the one in which it
 * runs works.
 */
export class OwnReplicaChecker extends Checker<Evidence> {
  /** The pods whose removal each run has asked for, by uid. */
  readonly #asked = new Map<string, number>();

  observe({ at, change, by }: ObservedChange): void {
    const { own } = this.evidence.terms;
    const { resource, previous, object } = change;
    if (resource !== 'pods' || !own || object.metadata.namespace !== own.namespace) return;
    if (!by || !isRemoval(by) || !previous || previous.metadata.deletionTimestamp) return;
    const { uid = '', name } = object.metadata;
    this.#asked.set(uid, by.run);
    const { known } = this.evidence.apiHistory;
    const since = Math.min(
      known.inTurnUpTo(by.run, 'pods', by.sentAt),
      known.inTurnUpTo(by.run, 'nodes', by.sentAt),
    );
    const standIns = this.#replicas().filter((other) => {
      return this.#asked.get(other) !== by.run && this.#worked(other, since, at).includes(true);
    });
    const before = this.#worked(uid, since, at, ({ metadata }) => !metadata.deletionTimestamp);
    if (standIns.length > 0 || before.includes(false)) return;
    const evidence = `${name} is removed by run ${by.run}, and no other replica works`;
    this.evidence.report({ invariant: 'keeps its last replica', at, evidence });
  }

  /** True if no other replica works now. */
  isLast({ metadata }: KubeObject): boolean {
    const { api, terms } = this.evidence;
    if (metadata.namespace !== terms.own?.namespace) return false;
    const now = api.clock.now();
    return !this.#replicas().some((uid) => {
      return uid !== metadata.uid && this.#worked(uid, now, now).at(-1) === true;
    });
  }

  /** The uids of all that ever were. */
  #replicas(): readonly string[] {
    const { history, terms } = this.evidence;
    return history.pods.flatMap((states) => {
      const metadata = states[0]?.object?.metadata;
      return metadata?.namespace === terms.own?.namespace ? [metadata?.uid ?? ''] : [];
    });
  }

  /**
   * For each counted state of the pod in that time: true if the pod worked, given the state of its
   * node.
   */
  #worked(
    uid: string,
    from: number,
    to: number,
    counts: (pod: KubeObject) => boolean = () => true,
  ): readonly boolean[] {
    const { history } = this.evidence;
    return history.during(history.pod(uid), from, to).flatMap(({ object: pod }) => {
      if (pod === null || !counts(pod)) return [];
      const nodes = history.during(history.node(pod.spec.nodeName ?? ''), from, to);
      return nodes.map(({ object: node }) => this.#works(pod, node));
    });
  }

  #works({ metadata, spec, status }: KubeObject, node: KubeObject | null): boolean {
    if (metadata.deletionTimestamp || !spec.nodeName) return false;
    if (metadata.name === this.evidence.terms.own?.name) return true;
    const conditions: readonly { readonly type: string; readonly status: string }[] =
      status?.conditions ?? [];
    const isReady = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
    return isReady && status?.phase === 'Running' && readinessOf(node) === 'True';
  }
}
