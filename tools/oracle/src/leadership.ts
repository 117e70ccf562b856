// The checker of leadership: only the elected replica acts.
import type { ApiHistory } from './api-history.ts';
import type { Call, CallKind } from './call.ts';
import type { ObservedChange } from './object-history.ts';
import { clockTime, type Violation } from './terms.ts';

/** Who holds the lease from one instant on. */
interface Tenure {
  readonly at: number;
  /** The run that wrote itself into it; null: nobody holds it. */
  readonly run: number | null;
}

/** What only the leader may send. */
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
 * Of several replicas only the one that holds the lease acts: at the moment at which it sends a
 * write, nobody else has taken the lease, it has not been given back, and it was renewed not long
 * ago, so that nobody else can have taken it by the time at which the write arrives. All this goes
 * by the time of the API, whatever clocks the replicas have.
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
    // A lease that nobody has ever held is a record of something, and elects nobody.
    const { holderIdentity } = object.spec;
    if (holderIdentity === undefined) return;
    const holder: string = type === 'DELETED' ? '' : holderIdentity;
    const run = holder === '' ? null : this.#runOf(holder, by);
    this.#tenures.push({ at, run });
    if (run !== null) this.#renewals.set(run, [...(this.#renewals.get(run) ?? []), at]);
  }

  /** Each run has a name of its own. What one sends while it receives another's change is taken for that change. */
  #runOf(holder: string, by: Call | null): number | null {
    const run = this.#runs.get(holder) ?? by?.run ?? null;
    if (run !== null) this.#runs.set(holder, run);
    return run;
  }

  /** Called once, when everything is over. */
  atEnd(): void {
    for (const { kind, run, sentAt: at, target } of this.#apiHistory.calls.all) {
      if (!leading.includes(kind)) continue;
      // Whoever held it at some time of the same instant may have sent it then.
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
