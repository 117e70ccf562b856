// Stops a drain when somebody else evicts for its taint, and takes the taint back.

import { formatTaint, type Taint } from '@taintmgr/core';
import type { DrainStop, ForeignDeletion } from '@taintmgr/core/drain';
import { nameOf } from './drain.ts';

/** The controller that marks pods so, where managedFields do not say who did. */
const byReason: ReadonlyMap<string, string> = new Map([
  ['DeletionByTaintManager', 'kube-controller-manager'],
  ['DeletionByPodGC', 'kube-controller-manager'],
  ['PreemptionByScheduler', 'kube-scheduler'],
]);

/** The one who deleted a pod, as far as its mark says: `kube-controller-manager`, `somebody else`. */
export function deleterText({ manager, reason }: ForeignDeletion): string {
  return manager ?? byReason.get(reason ?? '') ?? 'somebody else';
}

/** The reason why the drain has stopped. */
export function stopText({ pod, by }: DrainStop): string {
  return (
    `${deleterText(by)} deletes ${nameOf(pod)} on ${pod.nodeName} for a NoExecute taint ` +
    `(${by.reason}), without asking PDBs; the drain stops and takes its taint back`
  );
}

/** Advice on what to do instead. */
export function stopHint({ by }: DrainStop, taint: Taint): string {
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  const name = deleterText(by);
  const off =
    name === 'kube-controller-manager'
      ? `start ${name} with --controllers=*,-taint-eviction-controller`
      : `stop ${name}`;
  return `hint: drain with ${other}, for which nobody else evicts, or ${off}`;
}

/** The warning about a taint that could not be taken back, with the command that does it by hand. */
export function keptText(nodeName: string, taint: Taint, why: string): string {
  const command = `kubectl taint nodes ${nodeName} ${taint.key}:${taint.effect}-`;
  return `node ${nodeName} keeps ${formatTaint(taint)}: ${why}; run: ${command}`;
}
