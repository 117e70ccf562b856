import { scaledCount } from '../controllers/int-or-percent.ts';
import { controllerOf, isReady, isTerminating, withCondition } from '../controllers/pods.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';

/** How long an evicted pod counts as gone although its deletion has not been seen. */
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
  pods: readonly KubeObject[],
  findScale: FindScale,
  nowMs: number,
): { readonly [field: string]: unknown } {
  const now = formatTime(nowMs);
  const { conditions } = budget.status ?? {};
  try {
    const { expectedPods, desiredHealthy } = expectation(budget, pods, findScale);
    const disruptedPods = stillDisrupted(budget.status?.disruptedPods ?? {}, pods, nowMs);
    const currentHealthy = pods.filter(
      (pod) =>
        isReady(pod) && !isTerminating(pod) && disruptedPods[pod.metadata.name] === undefined,
    ).length;
    const spare = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
    const observedGeneration = budget.metadata.generation ?? 0;
    return {
      observedGeneration,
      ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
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
  pods: readonly KubeObject[],
  findScale: FindScale,
): { readonly expectedPods: number; readonly desiredHealthy: number } {
  const { minAvailable = 0, maxUnavailable } = budget.spec;
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expectedPods: pods.length, desiredHealthy: minAvailable };
  }
  const expectedPods = totalScale(pods, findScale);
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaledCount(minAvailable, expectedPods, Math.ceil)
      : Math.max(0, expectedPods - scaledCount(maxUnavailable, expectedPods, Math.ceil));
  return { expectedPods, desiredHealthy };
}

/** The sum over the different controllers of the pods; pods without a controller add nothing. */
function totalScale(pods: readonly KubeObject[], findScale: FindScale): number {
  const scales = new Map<string, number>();
  const known = new Set<string>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner || known.has(owner.uid)) continue;
    known.add(owner.uid);
    const scale = findScale(owner, pod.metadata.namespace ?? '');
    if (!scale) throw new SyncError(`found no controllers for pod "${pod.metadata.name}"`);
    scales.set(scale.uid, scale.replicas);
  }
  let total = 0;
  for (const replicas of scales.values()) total += replicas;
  return total;
}

/** Entries of pods that exist, have not begun to end, and were evicted less than 2 min ago. */
function stillDisrupted(
  disruptedPods: DisruptedPods,
  pods: readonly KubeObject[],
  nowMs: number,
): DisruptedPods {
  const kept: Record<string, string> = {};
  if (Object.keys(disruptedPods).length === 0) return kept;
  for (const pod of pods) {
    const { name } = pod.metadata;
    const since = disruptedPods[name];
    if (since === undefined || isTerminating(pod)) continue;
    if (Date.parse(since) + deletionTimeoutMs > nowMs) kept[name] = since;
  }
  return kept;
}
