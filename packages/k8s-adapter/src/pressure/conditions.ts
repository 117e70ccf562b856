// The conditions and taints that node-pressure-controller writes; their types are its own.
import type { NodeCondition } from '@taintmgr/core';
import { type PressureConditionType, pressureConditions } from '@taintmgr/core/pressure';

/**
 * Conditions have types of our own: a kubelet puts its MemoryPressure right with its next look,
 * every ten seconds, whoever else wrote it, and conditions of types it does not know it leaves
 * alone. Whose a condition is, its type says, after a restart too.
 */
const prefix = 'taintmgr.dev/';

/** The type that we write for a kubelet's, e.g. `taintmgr.dev/MemoryPressure`. */
export function ownConditionType(type: PressureConditionType): string {
  return prefix + type;
}

/** The kubelet's type that stands for one of ours; null for those of others. */
export function pressureTypeOf(type: string): PressureConditionType | null {
  const name = type.startsWith(prefix) ? type.slice(prefix.length) : '';
  return isPressureType(name) ? name : null;
}

/** A condition as we write it, for one that the machine wants written in a kubelet's name. */
export function ownCondition(condition: NodeCondition): NodeCondition {
  const { type, status } = condition;
  if (!isPressureType(type) || (status !== 'True' && status !== 'False')) return condition;
  const message =
    status === 'True'
      ? 'less is available than the thresholds of taintmgr ask for'
      : 'as much is available as the thresholds of taintmgr ask for';
  const { reason } = pressureConditions[type][status];
  return { ...condition, type: ownConditionType(type), reason, message };
}

/** The taint for a condition of ours, as condition rules put it on. */
export function ownTaintKey(type: PressureConditionType): string {
  return pressureConditions[type].taint.replace('node.kubernetes.io/', prefix);
}

function isPressureType(name: string): name is PressureConditionType {
  return Object.hasOwn(pressureConditions, name);
}
