import type { Instant } from '../kernel/time.ts';
import type { Node, NodeCondition } from '../model/node.ts';
import { isSameTaint, type TaintName } from '../model/taint.ts';
// The well-known taints and what they stand for (spec of the node lifecycle controller, 5.1, 8).
export const notReadyKey = 'node.kubernetes.io/not-ready';
export const unreachableKey = 'node.kubernetes.io/unreachable';
const unschedulableKey = 'node.kubernetes.io/unschedulable';

/**
 * Which conditions of a node mean which well-known taints (spec of the node lifecycle controller,
 * 5.1, 8).
 */
const conditionTaints: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', notReadyKey],
  ['Ready', 'Unknown', unreachableKey],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
];

const ownedKeys: ReadonlySet<string> = new Set([
  ...conditionTaints.map(([, , key]) => key),
  unschedulableKey,
]);

/** The conditions that turn Unknown with an unreachable node. */
const unreachableTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** The NoSchedule taints a node should have, in the order of its conditions. */
function noScheduleTaints({ conditions = [], unschedulable }: Node): readonly TaintName[] {
  const keys = conditions.flatMap(({ type, status }) => {
    const row = conditionTaints.find(
      ([ofType, inStatus]) => ofType === type && inStatus === status,
    );
    return row ? [row[2]] : [];
  });
  if (unschedulable) keys.push(unschedulableKey);
  return keys.map((key) => ({ key, effect: 'NoSchedule' }));
}

/** What has to change so that the node's NoSchedule taints are those of its state. */
export function noScheduleChange(node: Node): TaintChange {
  const wanted = noScheduleTaints(node);
  const owned = node.taints.filter(
    ({ key, effect }) => effect === 'NoSchedule' && ownedKeys.has(key),
  );
  return {
    add: wanted.filter((taint) => !owned.some((other) => isSameTaint(taint, other))),
    remove: owned.filter((taint) => !wanted.some((other) => isSameTaint(taint, other))),
  };
}

/** Taints to put on a node and to take off it. */
export interface TaintChange {
  readonly add: readonly TaintName[];
  readonly remove: readonly TaintName[];
}

/**
 * The conditions of an unreachable node, as they have to be written; those that say so
 * already are left out. What the kubelet said of itself last, and when, stays.
 */
export function unreachableConditions(
  { conditions = [], createdAt = null }: Pick<Node, 'conditions' | 'createdAt'>,
  now: Instant,
): readonly NodeCondition[] {
  return unreachableTypes.flatMap((type): NodeCondition[] => {
    const condition = conditions.find((other) => other.type === type);
    if (condition?.status === 'Unknown') return [];
    const state = { type, status: 'Unknown', transitionAt: now };
    if (condition === undefined) return [{ ...state, ...neverPosted, heartbeatAt: createdAt }];
    return [{ ...state, ...stoppedPosting, heartbeatAt: condition.heartbeatAt }];
  });
}

const neverPosted = {
  reason: 'NodeStatusNeverUpdated',
  message: 'Kubelet never posted node status.',
};
const stoppedPosting = {
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
};
