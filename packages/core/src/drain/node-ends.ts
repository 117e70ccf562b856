// How a node of a drain ends, by what its pods came to.
import type { Blocker } from '../attempt/blocker.ts';
import type { Instant } from '../kernel/time.ts';
import type { DrainFailure, DrainNodePhase, DrainPod } from './state.ts';

/** It failed; `message`: in words of others. */
export function failed(
  why: DrainFailure,
  at: Instant,
  message: string | null = null,
): DrainNodePhase {
  return { kind: 'failed', why, at, message };
}

/** Of a node whose time is over. */
export function lateEndOf(now: Instant, pods: readonly DrainPod[]): DrainNodePhase {
  const isHeld = pods.some(({ state, blocker }) => state.kind !== 'gone' && isInTheWay(blocker));
  return failed(isHeld ? 'Blocked' : 'TimedOut', now);
}

/** Whether it does not resolve by itself. */
export function isInTheWay(blocker: Blocker | null): boolean {
  return blocker !== null && blocker.verdict !== 'resolves';
}
