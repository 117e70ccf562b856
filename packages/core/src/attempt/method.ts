import { finite, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { Policy } from '../policy/eviction-policy.ts';

/** How one attempt to evict a pod is made: Delete, Evict, or first the one and then the other. */
export interface Method {
  readonly kind: 'delete' | 'evict';
  /** Null: the pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** Budgets were asked until now and are asked no more. */
  readonly escalated: boolean;
  /** When the node goes, where that made a difference; null: it did not. */
  readonly nodeEnd: Instant | null;
}

const defaultGraceSeconds = 30;

/**
 * How an attempt at `now` is made for a pod whose deadline has passed. `asked`: the API server has
 * refused an attempt before. However late it is, budgets are asked first: nobody may have been there
 * to ask them until now.
 */
export function methodFor(
  now: Instant,
  asked: boolean,
  pod: Pod,
  nodeEnd: Instant | null,
  deadline: Instant,
  policy: Policy,
): Method {
  const escalateAt = escalationOf(pod, nodeEnd, deadline, policy);
  const escalated = asked && escalateAt !== null && now >= escalateAt;
  const kind = policy.mode === 'delete' || escalated ? 'delete' : 'evict';
  const gracePeriodSeconds = graceFor(now, pod, nodeEnd, policy);
  const byPolicy = escalationOf(pod, null, deadline, policy);
  const isHastened = escalated && (byPolicy === null || now < byPolicy);
  const isUsed = isHastened || gracePeriodSeconds !== policy.gracePeriodSeconds;
  return { kind, gracePeriodSeconds, escalated, nodeEnd: isUsed ? nodeEnd : null };
}

/**
 * When a pod that budgets hold back is deleted all the same: so long after its deadline, or early
 * enough for its grace period to end by the node's own deadline, whichever comes first. Null: never.
 */
export function escalationOf(
  pod: Pod,
  nodeEnd: Instant | null,
  deadline: Instant,
  { mode, deleteAfterMs, gracePeriodSeconds }: Policy,
): Instant | null {
  if (mode !== 'evictThenDelete') return null;
  const afterWait = deleteAfterMs === null ? Number.POSITIVE_INFINITY : deadline + deleteAfterMs;
  const grace = gracePeriodSeconds ?? graceOf(pod);
  const beforeEnd = (nodeEnd ?? Number.POSITIVE_INFINITY) - grace * 1000;
  const at = Math.min(afterWait, beforeEnd);
  return at === Number.POSITIVE_INFINITY ? null : at;
}

/**
 * Never longer than the node has left, and at least 1 s: 0 would kill without a word. A pod that
 * wants none of its own gets none.
 */
function graceFor(
  now: Instant,
  pod: Pod,
  nodeEnd: Instant | null,
  { gracePeriodSeconds }: Policy,
): number | null {
  if (nodeEnd === null) return gracePeriodSeconds;
  const wanted = gracePeriodSeconds ?? graceOf(pod);
  const left = Math.floor((nodeEnd - now) / 1000);
  return left >= wanted || wanted === 0 ? gracePeriodSeconds : Math.max(1, left);
}

function graceOf({ gracePeriodSeconds }: Pod): number {
  return finite(gracePeriodSeconds) ?? defaultGraceSeconds;
}
