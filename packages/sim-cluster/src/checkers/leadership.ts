import type { CallKind } from './call.ts';
import type { Told } from './history.ts';
import { clockTime, type Violation } from './terms.ts';
import type { Witness } from './witness.ts';

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

/**
 * Of several replicas only the one that holds the lease acts: at the moment at which it sends a
 * write, nobody else has taken the lease, and it has not been given back.
 */
export class LeadershipChecker {
  readonly #witness: Witness;
  readonly #report: (violation: Violation) => void;
  readonly #tenures: Tenure[] = [];

  constructor(witness: Witness, report: (violation: Violation) => void) {
    this.#witness = witness;
    this.#report = report;
  }

  hear({ at, change: { type, resource, object }, by }: Told): void {
    if (resource !== 'leases' || object.metadata.namespace === heartbeats) return;
    const isHeld = type !== 'DELETED' && (object.spec.holderIdentity ?? '') !== '';
    this.#tenures.push({ at, run: isHeld ? (by?.run ?? null) : null });
  }

  /** Called once, when everything is over. */
  atEnd(): void {
    for (const { kind, run, sentAt: at, target } of this.#witness.calls) {
      if (!leading.includes(kind)) continue;
      // Whoever held it at some time of the same instant may have sent it then.
      const first = this.#tenures.findLastIndex((tenure) => tenure.at < at);
      const holders = this.#tenures
        .slice(Math.max(0, first))
        .filter((tenure) => tenure.at <= at)
        .map((tenure) => tenure.run);
      if (holders.includes(run)) continue;
      const holder = holders.at(-1) ?? null;
      const held = holder === null ? 'nobody holds' : `run ${holder} holds`;
      const evidence = `run ${run} sent ${kind} ${target} at ${clockTime(at)}, where ${held} the lease`;
      this.#report({ invariant: 'acts without the lease', at, evidence });
      return;
    }
  }
}
