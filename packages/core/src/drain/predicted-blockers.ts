import { type BlockerVerdict, budgetVerdict } from '../attempt/blocker.ts';
import {
  type Budget,
  budgetRefusal,
  budgetsOver,
  isHeldUnready,
  isUnderBudgets,
  type OperatorSign,
  operatorOf,
  operatorSignOf,
  sparesUnready,
} from '../model/budget.ts';
import type { Pod } from '../model/pod.ts';

/** What would hold a pod back, known before the first try. */
export interface PredictedBlocker {
  readonly code:
    | 'Budget'
    | 'TwoBudgets'
    | 'Intercepted'
    | 'Finalizers'
    | 'NodeLost'
    /** Of the replicas of taintmgr-controller no other is ready, or stays. */
    | 'LastReplica';
  readonly verdict: BlockerVerdict;
  /** As the API server would say it, where it would. */
  readonly message: string;
  /** The budgets it is about; empty where it is about none. */
  readonly budgets: readonly Budget[];
  /**
   * `AlwaysAllow`: the pod is not ready, and would go if its budget had that unhealthyPodEvictionPolicy.
   */
  readonly remedy?: 'AlwaysAllow';
  /** What speaks for an operator behind a budget that has no owner; left out: nothing does. */
  readonly operatorSign?: OperatorSign;
}

/** What besides the pod decides how well it can go. */
export interface PredictionSite {
  /** Null: they could not be read. */
  readonly budgets: readonly Budget[] | null;
  /** metadata.finalizers of the pod. */
  readonly finalizers: readonly string[];
  /** Whether its kubelet answers; null: not known. */
  readonly nodeAnswers: boolean | null;
  /** What the API server said when a webhook kept the pod's last eviction; left out: none has. */
  readonly intercepted?: string | undefined;
}

/** Every pod of a Job has it. The Job controller removes it once the pod has ended, so that it holds nothing up. */
const jobFinalizer = 'batch.kubernetes.io/job-tracking';

/**
 * What an eviction of this pod would meet now: what the Eviction API would answer, and what would
 * keep the pod from ending once it is accepted.
 */
export function predictBlockers(pod: Pod, site: PredictionSite): readonly PredictedBlocker[] {
  const blockers: PredictedBlocker[] = [];
  const budget = site.budgets && isUnderBudgets(pod) ? budgetBlocker(pod, site.budgets) : null;
  if (budget) blockers.push(budget);
  if (site.intercepted !== undefined) {
    const message = site.intercepted;
    blockers.push({ code: 'Intercepted', verdict: 'othersAct', message, budgets: [] });
  }
  const finalizers = site.finalizers.filter((name) => name !== jobFinalizer);
  if (finalizers.length > 0) {
    const message = `the pod stays until ${finalizers.join(', ')} is removed from its finalizers`;
    blockers.push({ code: 'Finalizers', verdict: 'needsTime', message, budgets: [] });
  }
  if (site.nodeAnswers === false) {
    const message =
      'the kubelet does not answer: the pod cannot terminate until the node is back or deleted';
    blockers.push({ code: 'NodeLost', verdict: 'needsTime', message, budgets: [] });
  }
  return blockers;
}

function budgetBlocker(pod: Pod, known: readonly Budget[]): PredictedBlocker | null {
  const budgets = budgetsOver(pod, known);
  const [budget] = budgets;
  if (!budget) return null;
  if (budgets.length > 1) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    return { code: 'TwoBudgets', verdict: 'never', message, budgets };
  }
  const operatorSign = operatorSignOf(budget, [pod]);
  const message = sparesUnready(budget, pod) ? null : budgetRefusal(budget);
  if (message === null) return null;
  const isOperators = operatorSign !== null || operatorOf(budget) !== null;
  const isCurable = !isOperators && isHeldUnready(budget, pod);
  return {
    code: 'Budget',
    verdict: budgetVerdict(budget, operatorSign),
    message,
    budgets,
    ...(isCurable && ({ remedy: 'AlwaysAllow' } as const)),
    ...(operatorSign && { operatorSign }),
  };
}
