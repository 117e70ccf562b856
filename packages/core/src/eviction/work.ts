import type { Setback } from '../attempt/outcome.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { LimitHit } from '../policy/limit.ts';

/** How far the eviction of one pod has come, as a state. `deadline` is when it was due. */
export type Work =
  /** Planned at `since`, or planned anew then. */
  | { readonly kind: 'waiting'; readonly deadline: Instant; readonly since: Instant }
  /** Deadlines of its node are paused; it will have `remaining` left. */
  | { readonly kind: 'paused'; readonly remaining: Millis }
  /** Due, and held back by a limit, until `until` or (null) until something makes room. */
  | {
      readonly kind: 'held';
      readonly deadline: Instant;
      /** So many attempts have failed before. */
      readonly attempts: number;
      readonly hit: LimitHit;
      readonly until: Instant | null;
    }
  /** Command `id` is out and not yet answered. */
  | {
      readonly kind: 'sending';
      readonly deadline: Instant;
      readonly id: string;
      readonly attempt: number;
    }
  /** Attempt number `attempt` failed; the next one is at `at`. */
  | {
      readonly kind: 'retrying';
      readonly deadline: Instant;
      readonly attempt: number;
      readonly at: Instant;
      readonly setback: Setback;
    }
  /** The API server accepted it; the watch has not yet shown the pod leaving. */
  | { readonly kind: 'sent'; readonly deadline: Instant; readonly since: Instant };

/** Work that waits and can still be called off. */
export type Pending = Extract<Work, { kind: 'waiting' | 'paused' | 'held' | 'retrying' }>;

export function isPending(work: Work): work is Pending {
  return work.kind !== 'sending' && work.kind !== 'sent';
}

/** Null for work without one: paused, or none at all. */
export function deadlineOf(work: Work | null | undefined): Instant | null {
  return !work || work.kind === 'paused' ? null : work.deadline;
}

/** How many attempts have failed. */
export function attemptsOf(work: Pending): number {
  if (work.kind === 'retrying') return work.attempt;
  return work.kind === 'held' ? work.attempts : 0;
}
