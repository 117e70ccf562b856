// Decides how a pod is removed: Evict or Delete, the grace period, and when Evict gives way to
// Delete.
import { finite, type Instant, type Millis } from '../kernel/time.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { Policy } from '../policy/eviction-policy.ts';
import type { PodCommand } from './pod-command.ts';

/** The terms on which a pod is removed. */
export interface Terms {
  /** Since when it should have gone. */
  readonly deadline: Instant;
  readonly budgets: BudgetPolicy;
  /** Null: the pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** When its node is removed; null: not known. */
  readonly nodeEnd: Instant | null;
}

/** The form of one request: Delete, or Evict, which asks disruption budgets. */
interface Method {
  readonly kind: 'delete' | 'evict';
  /** Null: the pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** Budgets were asked until now and are no longer asked. */
  readonly escalated: boolean;
  /** When the node goes, where that made a difference; null: it did not. */
  readonly nodeEnd: Instant | null;
}

const defaultGraceSeconds = 30;

/**
 * The form of a request at `now` for a pod whose deadline has passed. `asked`: the API server has
 * refused one before. However late it is, budgets are asked first: perhaps no controller was there
 * to ask them until now.
 */
export function methodFor(now: Instant, asked: boolean, pod: Pod, terms: Terms): Method {
  const escalateAt = escalationOf(pod, terms);
  const escalated = asked && escalateAt !== null && now >= escalateAt;
  const kind = terms.budgets.kind === 'ignore' || escalated ? 'delete' : 'evict';
  const gracePeriodSeconds = graceFor(now, pod, terms);
  const byPolicy = escalationOf(pod, { ...terms, nodeEnd: null });
  const isHastened = escalated && (byPolicy === null || now < byPolicy);
  const isUsed = isHastened || gracePeriodSeconds !== terms.gracePeriodSeconds;
  return { kind, gracePeriodSeconds, escalated, nodeEnd: isUsed ? terms.nodeEnd : null };
}

/**
 * The instant at which a pod that budgets hold back is deleted anyway: a set time after its
 * deadline, or early enough for its grace period to end by the node's own deadline, the earlier of
 * the two. Null: never.
 */
export function escalationOf(pod: Pod, terms: Terms): Instant | null {
  const { budgets, deadline, gracePeriodSeconds, nodeEnd } = terms;
  if (budgets.kind !== 'deleteAfter') return null;
  const grace = gracePeriodSeconds ?? graceOf(pod);
  const beforeEnd = (nodeEnd ?? Number.POSITIVE_INFINITY) - grace * 1000;
  const at = Math.min(deadline + budgets.afterMs, beforeEnd);
  return at === Number.POSITIVE_INFINITY ? null : at;
}

/** The request itself; `confirm`: read again what led to the decision first. */
export function podCommand<R>(
  id: string,
  pod: Pod,
  { kind, gracePeriodSeconds, escalated }: Method,
  confirm: boolean,
  because: readonly R[],
): PodCommand<R> {
  const target = { id, pod: podRef(pod), gracePeriodSeconds, confirm, because };
  return kind === 'evict'
    ? { kind: 'evictPod', ...target }
    : { kind: 'deletePod', ...target, guard: 'uid', generation: pod.generation, escalated };
}

/**
 * Never longer than the node has left, and at least 1 s: 0 would kill without a word. A pod without
 * a grace period gets none.
 */
function graceFor(now: Instant, pod: Pod, { gracePeriodSeconds, nodeEnd }: Terms): number | null {
  if (nodeEnd === null) return gracePeriodSeconds;
  const wanted = gracePeriodSeconds ?? graceOf(pod);
  const left = Math.floor((nodeEnd - now) / 1000);
  return left >= wanted || wanted === 0 ? gracePeriodSeconds : Math.max(1, left);
}

function graceOf({ gracePeriodSeconds }: Pod): number {
  return finite(gracePeriodSeconds) ?? defaultGraceSeconds;
}

/** The treatment of the disruption budgets of a pod that has to go. */
export type BudgetPolicy =
  /** The Eviction API asks them, for as long as it takes. */
  | { readonly kind: 'respect' }
  /**
   * Budgets are asked for this time after a pod is due; then the pod is deleted. Infinity: only the
   * end of its node ends the asking.
   */
  | { readonly kind: 'deleteAfter'; readonly afterMs: Millis }
  /** Pods are deleted; budgets are not asked. */
  | { readonly kind: 'ignore' };

/** Reads the treatment of budgets from an eviction policy. */
export function budgetPolicyOf({ mode, deleteAfterMs }: Policy): BudgetPolicy {
  switch (mode) {
    case 'delete':
      return { kind: 'ignore' };
    case 'evict':
      return { kind: 'respect' };
    case 'evict-then-delete':
      return { kind: 'deleteAfter', afterMs: deleteAfterMs ?? Number.POSITIVE_INFINITY };
  }
}
