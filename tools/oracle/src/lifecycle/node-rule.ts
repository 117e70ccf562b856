// The plain rule of node conditions, computed independently.

import type { KubeObject } from '@taintmgr/sim-cluster';
import { type Condition, conditionOf } from '../objects.ts';

/** The status of a node's Ready condition; `absent` without one, or without a node. */
export type Readiness = 'True' | 'False' | 'Unknown' | 'absent';

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/** The conditions that go Unknown when a node sends no heartbeats any more. */
export const kubeletConditionTypes = [
  'Ready',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
] as const;

/** The NoSchedule taint of each condition. */
const conditionTaints: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', notReady],
  ['Ready', 'Unknown', unreachable],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
];
const unschedulable = 'node.kubernetes.io/unschedulable';
const noScheduleKeys = new Set([...conditionTaints.map(([, , key]) => key), unschedulable]);
/** The NoExecute taint of an unhealthy node. */
const unhealthyKeys: Readonly<Record<Readiness, string | null>> = {
  True: null,
  False: notReady,
  Unknown: unreachable,
  absent: null,
};

/** The readiness of the node in its status, whether its kubelet or a controller wrote it. */
export function readinessOf(node: KubeObject | null): Readiness {
  const status = node && conditionOf(node, 'Ready')?.status;
  return status === 'True' || status === 'False' || status === 'Unknown' ? status : 'absent';
}

/** The four conditions of a node that its kubelet reports; null for one that it lacks. */
export function kubeletConditions(node: KubeObject): readonly (Condition | null)[] {
  return kubeletConditionTypes.map((type) => conditionOf(node, type));
}

/** The keys of the NoExecute taints that make pods leave an unhealthy node. */
export function unhealthyTaints(node: KubeObject | null): readonly string[] {
  return taintsOf(node)
    .filter(
      ({ key, effect }) => effect === 'NoExecute' && (key === notReady || key === unreachable),
    )
    .map(({ key }) => key);
}

/** True if the node is unreachable and has the taint of one that is not ready, or the reverse. */
export function hasWrongUnhealthyTaint(node: KubeObject | null): boolean {
  const wanted = unhealthyKeys[readinessOf(node)];
  return wanted !== null && unhealthyTaints(node).some((key) => key !== wanted);
}

/** True if the NoSchedule taints match the conditions and `unschedulable`. */
export function areConditionTaintsRight(node: KubeObject): boolean {
  const wanted = conditionTaints
    .filter(([type, status]) => conditionOf(node, type)?.status === status)
    .map(([, , key]) => key);
  if (node.spec.unschedulable) wanted.push(unschedulable);
  const present = taintsOf(node).filter(isConditionTaint);
  return (
    present.length === wanted.length &&
    present.every(({ key }) => wanted.some((one) => one === key))
  );
}

/** True if a node lifecycle controller adds and removes the taint. */
export function isLifecycleTaint(taint: Taint): boolean {
  const isUnhealthyKey = taint.key === notReady || taint.key === unreachable;
  return isConditionTaint(taint) || (taint.effect === 'NoExecute' && isUnhealthyKey);
}

/** All taints of a node. */
export function taintsOf(node: KubeObject | null): readonly Taint[] {
  return node?.spec?.taints ?? [];
}

function isConditionTaint({ key, effect }: Taint): boolean {
  return effect === 'NoSchedule' && noScheduleKeys.has(key);
}
