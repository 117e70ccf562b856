// The availability of pods: ready, and that for as long as their workload asks (minReadySeconds).
import { conditionOf } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/**
 * The number of available pods, and the time until another one may be; null: no pod is waited for.
 */
export interface Availability {
  readonly available: number;
  readonly nextMs: number | null;
}

/**
 * The time until the pod is available; 0: it is, null: it is not ready. A pod has been ready since the
 * lastTransitionTime of its condition, which is in whole seconds.
 */
export function untilAvailable(
  pod: KubeObject,
  minReadySeconds: number,
  nowMs: number,
): number | null {
  const ready = conditionOf(pod, 'Ready');
  if (ready?.status !== 'True') return null;
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(ready.lastTransitionTime ?? '');
  return Number.isNaN(since) ? null : Math.max(0, since + 1000 * minReadySeconds - nowMs);
}

/** The number of available pods, and the time of the next look. */
export function availabilityOf(
  pods: readonly KubeObject[],
  minReadySeconds: number,
  nowMs: number,
): Availability {
  let available = 0;
  let nextMs: number | null = null;
  for (const pod of pods) {
    const waitMs = untilAvailable(pod, minReadySeconds, nowMs);
    if (waitMs === 0) available++;
    else if (waitMs !== null) nextMs = Math.min(nextMs ?? waitMs, waitMs);
  }
  return { available, nextMs };
}
