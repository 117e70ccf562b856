// A pause that is gone, as a node remembers it.
import type { Instant } from '../kernel/time.ts';

/** A time for which deadlines stood still on a node, by the cluster's clock. */
export interface PastPause {
  readonly from: Instant;
  readonly to: Instant;
  /** Patterns; empty: for all taints. */
  readonly taintKeys: readonly string[];
  /** Patterns; empty: for pods of all namespaces. */
  readonly namespaces: readonly string[];
  /** Which pause it was: its uid, or the name of one of a file; empty: nobody knows, or several. */
  readonly pause: string;
}
