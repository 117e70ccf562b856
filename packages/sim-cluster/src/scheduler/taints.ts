// Taints as scheduling reads them: some keep pods out, others ask them to prefer another node.
import { type Taint, type Toleration, tolerates, untolerated } from '../objects/tolerations.ts';
import type { Offer, Place } from './place.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

const unschedulableTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const schedulingEffects = ['NoSchedule', 'NoExecute'];
const none: readonly Toleration[] = [];

/** The tolerations of a pod. */
export function tolerationsOf({ pod }: Readonly<SchedulingPod>): readonly Toleration[] {
  return pod.spec.tolerations ?? none;
}

/** True if the node is cordoned for pods with these tolerations. */
export function isShut({ isCordoned }: Offer, tolerations: readonly Toleration[]): boolean {
  return isCordoned && untolerated([unschedulableTaint], tolerations, schedulingEffects) !== null;
}

/** True if a taint keeps out pods with these tolerations. */
export function isKeptOut({ taints }: Offer, tolerations: readonly Toleration[]): boolean {
  return untolerated(taints, tolerations, schedulingEffects) !== null;
}

/** The number of taints that ask pods with these tolerations to prefer another node. */
export function shynessOf({ offer }: Place, tolerations: readonly Toleration[]): number {
  let count = 0;
  for (const taint of offer?.taints ?? []) {
    if (taint.effect !== 'PreferNoSchedule') continue;
    if (!tolerations.some((toleration) => tolerates(toleration, taint))) count++;
  }
  return count;
}
