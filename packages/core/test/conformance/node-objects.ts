import type { NodeCondition, Taint } from '@taintmgr/core';
import { hasTaint, isSameTaint, type TaintName } from '../../src/model/taint.ts';
/** A condition as the vectors write it. */
export type VectorCondition = readonly [
  type: string,
  status: string,
  heartbeatMs: number,
  transitionMs: number,
  reason?: string,
];

export function conditionFrom(condition: VectorCondition): NodeCondition {
  const [type, status, heartbeatAt, transitionAt] = condition;
  return { type, status, reason: `Kubelet${status}`, message: '', heartbeatAt, transitionAt };
}

export function conditionVector({
  type,
  status,
  heartbeatAt,
  transitionAt,
  reason,
}: NodeCondition): VectorCondition {
  return [type, status, heartbeatAt ?? 0, transitionAt ?? 0, reason];
}

export function formatTaintName({ key, value, effect }: Taint): string {
  return `${key}${value && `=${value}`}:${effect}`;
}

/** What the API server has after a change: known ones in their place, new ones behind. */
export function applyTaints(
  taints: readonly Taint[],
  add: readonly Taint[],
  remove: readonly TaintName[],
): readonly Taint[] {
  const kept = taints.filter((taint) => !hasTaint(remove, taint));
  const replaced = kept.map((taint) => add.find((other) => isSameTaint(other, taint)) ?? taint);
  return [...replaced, ...add.filter((taint) => !hasTaint(kept, taint))];
}
