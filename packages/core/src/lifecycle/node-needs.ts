import type { Instant } from '../kernel/time.ts';
import { type Node, type NodeCondition, nodeRef, readyOf } from '../model/node.ts';
import type { Labels } from '../model/selector.ts';
import {
  conditionTaints,
  isLifecycleTaint,
  isSameTaint,
  notReadyKey,
  type Taint,
  type TaintName,
  unschedulableKey,
} from '../model/taint.ts';
import type { RuleChange } from './condition-rules.ts';
import type { NoExecuteDecision } from './decide.ts';
import type { NodeCommand } from './node-command.ts';
import type { LifecycleReason, NodeWrite } from './reason.ts';

/** A write that a node needs now. */
export interface Need {
  readonly write: NodeWrite;
  /** The taints that come and go; null: no taint is changed. Two writes of one purpose may be opposites. */
  readonly taints: string | null;
  /** `fresh`: an earlier attempt met the change of another program. */
  readonly command: (id: string, fresh: boolean) => NodeCommand;
}

/** The decisions about a node. */
interface Decided {
  readonly isUnreachable: boolean;
  /** renewTime of its lease when it was last heard of. */
  readonly leaseRenewedAt: Instant | null;
  readonly noExecute: NoExecuteDecision;
  readonly rules: RuleChange | null;
}

/** The writes a node needs now, in the order in which they are made. */
export function needsOf(now: Instant, node: Node, decided: Decided): readonly Need[] {
  const { isUnreachable, leaseRenewedAt, noExecute, rules } = decided;
  const needs = [
    isUnreachable ? conditionsNeed(now, node, leaseRenewedAt) : null,
    labelsNeed(node),
    taintsNeed(now, node, 'noSchedule', noScheduleNeed(node), []),
    noExecute.kind === 'change' ? noExecuteNeed(now, node, noExecute) : null,
    rules && rulesNeed(node, rules),
  ];
  return needs.filter((need) => need !== null);
}

/** The write that taints a node NoExecute, or changes such taints. */
export function noExecuteNeed(
  now: Instant,
  node: Node,
  { because, ...change }: NoExecuteDecision,
): Need | null {
  return taintsNeed(now, node, 'noExecute', change, because);
}

/** A missing heartbeat is written down when the kubelet's last word on Ready was another. */
function conditionsNeed(now: Instant, node: Node, leaseRenewedAt: Instant | null): Need | null {
  const conditions = unreachableConditions(node, now);
  if (!readyOf(conditions)) return null;
  const ready = readyOf(node.conditions);
  const seen = ready && { status: ready.status, heartbeatAt: ready.heartbeatAt };
  const target = { node: nodeRef(node), conditions, seen, leaseRenewedAt };
  return {
    write: 'conditions',
    taints: null,
    command: (id) => ({ kind: 'setNodeConditions', id, ...target }),
  };
}

function labelsNeed(node: Node): Need | null {
  const labels = missingLabels(node.labels ?? {});
  if (!labels) return null;
  return {
    write: 'labels',
    taints: null,
    command: (id) => ({ kind: 'setNodeLabels', id, node: nodeRef(node), labels }),
  };
}

/** Rule `unreported-untainted`: a node whose kubelet has not reported keeps its not-ready taint. */
function noScheduleNeed(node: Node): TaintChange {
  const change = noScheduleChange(node);
  if (readyOf(node.conditions)) return change;
  return { ...change, remove: change.remove.filter(({ key }) => key !== notReadyKey) };
}

function taintsNeed(
  now: Instant,
  node: Node,
  write: NodeWrite,
  { add, remove }: TaintChange,
  because: readonly LifecycleReason[],
): Need | null {
  if (add.length === 0 && remove.length === 0) return null;
  const taints = add.map(({ key, effect }: TaintName): Taint => {
    return { key, value: '', effect, timeAdded: now };
  });
  const seen = readyOf(node.conditions)?.status ?? null;
  const change = { node: nodeRef(node), add: taints, remove, seen, because };
  return {
    write,
    taints: changeText(change),
    command: (id, fresh) => ({ kind: 'changeTaints', id, ...change, fresh }),
  };
}

function rulesNeed(node: Node, change: RuleChange): Need {
  const command = { kind: 'changeTaints', node: nodeRef(node), ...change } as const;
  return {
    write: 'rules',
    taints: null,
    command: (id, fresh) => ({ ...command, id, fresh }),
  };
}

function changeText({ add, remove }: TaintChange): string {
  const text = ({ key, effect }: TaintName): string => `${key}:${effect}`;
  return `+${add.map(text)} -${remove.map(text)}`;
}

/** The beta label repeats the stable one. */
const pairs = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const;

/** The labels a node lacks or has wrong; null when all are right. */
export function missingLabels(labels: Labels): Labels | null {
  const missing = pairs.flatMap(([stable, beta]) => {
    const value = labels[stable];
    return value === undefined || labels[beta] === value ? [] : [[beta, value]];
  });
  return missing.length === 0 ? null : Object.fromEntries(missing);
}

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
 * The conditions of an unreachable node, as they have to be written; those that say so already are
 * left out. The kubelet's last report about itself, and its time, stay.
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
