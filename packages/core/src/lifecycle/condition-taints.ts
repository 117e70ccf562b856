// The taints that a node should have by its conditions, and its conditions when it is unreachable.
import type { Instant } from '../kernel/time.ts';
import type { Node, NodeCondition } from '../model/node.ts';
import {
  conditionTaints,
  isLifecycleTaint,
  isSameTaint,
  type TaintName,
  unschedulableKey,
} from '../model/taint.ts';

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

/** The change that makes the node's NoSchedule taints those of its state. */
export function noScheduleChange(node: Node): TaintChange {
  const wanted = noScheduleTaints(node);
  const owned = node.taints.filter(
    (taint) => taint.effect === 'NoSchedule' && isLifecycleTaint(taint),
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
