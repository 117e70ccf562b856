// What is done about disruption budgets, as one value for the controller and a drain.
import type { Millis } from '../kernel/time.ts';
import type { Policy } from '../policy/eviction-policy.ts';

/** What is done about the disruption budgets of a pod that has to go. */
export type BudgetPolicy =
  /** The Eviction API asks them, for as long as it takes. */
  | { readonly kind: 'respect' }
  /**
   * They are asked for so long after a pod is due; then it is deleted. Infinity: only the end of its
   * node ends the asking.
   */
  | { readonly kind: 'deleteAfter'; readonly afterMs: Millis }
  /** Pods are deleted; budgets are not asked. */
  | { readonly kind: 'ignore' };

/** What an eviction policy says of budgets. */
export function budgetPolicyOf({ mode, deleteAfterMs }: Policy): BudgetPolicy {
  switch (mode) {
    case 'delete':
      return { kind: 'ignore' };
    case 'evict':
      return { kind: 'respect' };
    case 'evictThenDelete':
      return { kind: 'deleteAfter', afterMs: deleteAfterMs ?? Number.POSITIVE_INFINITY };
  }
}
