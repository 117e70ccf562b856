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

/** Of a node whose turn came at `since`, and whose pods are all done. */
export function endOf(now: Instant, since: Instant, pods: readonly DrainPod[]): DrainNodePhase {
  const why = failureOf(pods);
  return why ? failed(why, now) : { kind: 'drained', since, at: now };
}

/** Of a node whose time is over. */
export function lateEndOf(now: Instant, pods: readonly DrainPod[]): DrainNodePhase {
  const isHeld = pods.some(({ state, blocker }) => state.kind !== 'gone' && isInTheWay(blocker));
  return failed(isHeld ? 'Blocked' : 'TimedOut', now);
}

/** Why a node failed some of whose pods were given up; null: none was. */
function failureOf(pods: readonly DrainPod[]): DrainFailure | null {
  const failedOnes = pods.filter(({ state }) => state.kind === 'givenUp');
  if (failedOnes.length === 0) return null;
  return failedOnes.some(({ blocker }) => blocker?.code === 'Denied') ? 'Denied' : 'Blocked';
}

/** Whether it does not resolve by itself. */
function isInTheWay(blocker: Blocker | null): boolean {
  return blocker !== null && blocker.verdict !== 'resolves';
}
