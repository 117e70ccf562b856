// The taints that whoever watches over nodes puts on and takes off (spec of the node lifecycle controller, 5.1, 8).
import type { TaintName } from './taint.ts';

export const notReadyKey = 'node.kubernetes.io/not-ready';
export const unreachableKey = 'node.kubernetes.io/unreachable';
export const unschedulableKey = 'node.kubernetes.io/unschedulable';

/** Which conditions of a node mean which taints with NoSchedule. */
export const conditionTaints: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', notReadyKey],
  ['Ready', 'Unknown', unreachableKey],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
];

/** The keys of these taints, by effect. */
export const lifecycleKeys: Readonly<Record<'NoSchedule' | 'NoExecute', readonly string[]>> = {
  NoSchedule: [...conditionTaints.map(([, , key]) => key), unschedulableKey],
  NoExecute: [notReadyKey, unreachableKey],
};

/** Whether it comes and goes with the state of its node, whoever else puts it on. */
export function isLifecycleTaint({ key, effect }: TaintName): boolean {
  return (effect === 'NoSchedule' || effect === 'NoExecute') && lifecycleKeys[effect].includes(key);
}
