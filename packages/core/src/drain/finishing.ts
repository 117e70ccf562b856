// Pods that are given time to finish instead of being evicted: those of Jobs, or of some labels.
import type { Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { selects } from '../model/selector.ts';
import type { WaitCompleted } from '../policy/node-drain.ts';

/** When a pod that may finish goes if it has not; null: it is not given time, or its node's turn is to come. */
export function finishBy(
  pod: Pod,
  wait: WaitCompleted | null,
  begunAt: Instant | null,
): Instant | null {
  const time = wait !== null && mayFinish(pod, wait) ? wait.timeout : null;
  return time === null || begunAt === null ? null : begunAt + time;
}

/** Whether it has done what it was given time for: it is left where it is, with its logs. */
export function hasFinished(pod: Pod, wait: WaitCompleted | null): boolean {
  const isOver = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  return isOver && wait !== null && mayFinish(pod, wait);
}

function mayFinish({ owner, labels = {} }: Pod, { podSelector }: WaitCompleted): boolean {
  if (podSelector) return selects(podSelector, labels);
  return owner?.kind === 'Job' && owner.apiVersion.startsWith('batch/');
}
