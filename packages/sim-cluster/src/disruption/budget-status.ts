import { scaledCount } from '../controllers/int-or-percent.ts';
import { controllerOf, isTerminating, withCondition } from '../controllers/pods.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import { type BudgetPods, isHealthy } from './budget-pods.ts';

/** The time for which an evicted pod counts as gone although its deletion has not been seen. */
export const deletionTimeoutMs = 120_000;

/** The workload that decides how many pods there should be. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** A budget that cannot be counted; the message goes into its condition. */
export class SyncError extends Error {}

/**
 * Finds the scale behind a pod's controller, null when there is no such controller. Throws
 * SyncError for kinds that have no scale.
 */
export type FindScale = (owner: OwnerReference, namespace: string) => Scale | null;

type DisruptedPods = Readonly<Record<string, string>>;

/** The status that a PodDisruptionBudget should have at `nowMs`. */
export function budgetStatus(
  budget: KubeObject,
  pods: BudgetPods,
  findScale: FindScale,
  nowMs: number,
): { readonly [field: string]: unknown } {
  const now = formatTime(nowMs);
  const { conditions } = budget.status ?? {};
  try {
    const { expectedPods, desiredHealthy } = expectation(budget, pods, findScale);
    const disruptedPods = stillDisrupted(budget, pods, nowMs);
    const names = Object.keys(disruptedPods);
    const isLeaving = (name: string): boolean => {
      const pod = pods.get(keyIn(budget, name));
      return pod !== undefined && isHealthy(pod);
    };
    const currentHealthy = pods.healthy - names.filter(isLeaving).length;
    const spare = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
    const observedGeneration = budget.metadata.generation ?? 0;
    return {
      observedGeneration,
      ...(names.length > 0 ? { disruptedPods } : {}),
      disruptionsAllowed: spare,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      conditions: withCondition(conditions, allowed(spare, observedGeneration), now),
    };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    const { observedGeneration = 0 } = budget.status ?? {};
    const condition = { ...allowed(0, observedGeneration), reason: 'SyncFailed' };
    return {
      ...budget.status,
      disruptionsAllowed: 0,
      conditions: withCondition(conditions, { ...condition, message: error.message }, now),
    };
  }
}

function allowed(disruptionsAllowed: number, observedGeneration: number) {
  const isAllowed = disruptionsAllowed > 0;
  return {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    observedGeneration,
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
}

/**
 * A whole minAvailable counts the pods that are there; everything else needs to know how many
 * there should be. Percentages are rounded up.
 */
function expectation(
  budget: KubeObject,
  pods: BudgetPods,
  findScale: FindScale,
): { readonly expectedPods: number; readonly desiredHealthy: number } {
  const { minAvailable = 0, maxUnavailable } = budget.spec;
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expectedPods: pods.size, desiredHealthy: minAvailable };
  }
  const expectedPods = totalScale(pods, findScale);
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaledCount(minAvailable, expectedPods, Math.ceil)
      : Math.max(0, expectedPods - scaledCount(maxUnavailable, expectedPods, Math.ceil));
  return { expectedPods, desiredHealthy };
}

/** The sum over the different controllers of the pods; pods without a controller add nothing. */
function totalScale(pods: BudgetPods, findScale: FindScale): number {
  const scales = new Map<string, number>();
  for (const { owner, namespace } of pods.owners()) {
    const scale = findScale(owner, namespace);
    if (!scale) throw new SyncError(`found no controllers for pod "${firstOf(owner.uid, pods)}"`);
    scales.set(scale.uid, scale.replicas);
  }
  let total = 0;
  for (const replicas of scales.values()) total += replicas;
  return total;
}

/** The first pod of a controller, by name. */
function firstOf(ownerUid: string, pods: BudgetPods): string {
  for (const pod of pods.all()) if (controllerOf(pod)?.uid === ownerUid) return pod.metadata.name;
  return '';
}

/** Entries of pods that exist, have not begun to end, and were evicted less than 2 min ago. */
function stillDisrupted(budget: KubeObject, pods: BudgetPods, nowMs: number): DisruptedPods {
  const disrupted: DisruptedPods = budget.status?.disruptedPods ?? {};
  const kept: Record<string, string> = {};
  for (const [name, since] of Object.entries(disrupted)) {
    const pod = pods.get(keyIn(budget, name));
    if (!pod || isTerminating(pod)) continue;
    if (Date.parse(since) + deletionTimeoutMs > nowMs) kept[name] = since;
  }
  return kept;
}

/** The key of a pod of the budget's namespace. */
function keyIn({ metadata: { namespace = '' } }: KubeObject, name: string): string {
  return `${namespace}/${name}`;
}
