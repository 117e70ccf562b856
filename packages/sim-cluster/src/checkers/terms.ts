import type { Call } from './call.ts';
import type { History } from './history.ts';
import type { TaintStarts } from './taint-starts.ts';
import type { Witness } from './witness.ts';

/** What is promised of the client under watch beside the plain rule. Times in milliseconds. */
export interface Terms {
  readonly mode: 'delete' | 'evict' | 'evictThenDelete';
  /** With `evictThenDelete`: budgets are asked for so long after the deadline. */
  readonly deleteAfterMs: number;
  /** A taint younger than this is not acted on. */
  readonly settleMs: number;
  readonly rates: readonly RateTerm[];
  /** On a view older than this nothing is evicted without a look at pod and node before. */
  readonly viewAgeMsMax: number;
  /** Everything due is done so long after the last trouble, limits not counted. */
  readonly recoveryMs: number;
}

/** So many pods begin to be evicted at most, in all or in each zone, namespace or node. */
export interface RateTerm {
  readonly per: 'total' | 'zone' | 'namespace' | 'node';
  readonly podsPerSecond: number;
  readonly burst: number;
}

/** A promise that was broken, and what shows it. */
export interface Violation {
  /** Name of the invariant. */
  readonly invariant: string;
  readonly at: number;
  readonly evidence: string;
}

/** What the checkers look at. */
export interface Evidence {
  readonly terms: Terms;
  readonly history: History;
  readonly witness: Witness;
  readonly starts: TaintStarts;
  readonly report: (violation: Violation) => void;
}

/** The removals among the calls. */
export function isRemoval({ kind }: Call): boolean {
  return kind === 'deletePod' || kind === 'evictPod';
}

/** An instant as people compare it: the time of the day, with milliseconds. */
export function clockTime(instant: number): string {
  if (instant === Number.POSITIVE_INFINITY) return 'never';
  if (instant === Number.NEGATIVE_INFINITY) return 'the beginning';
  return new Date(instant).toISOString().slice(11, 23);
}
