// Stops a drain when somebody else evicts for its taint, and takes the taint back.

import { formatTaint, type Taint } from '@taintmgr/core';
import type { DrainStop, ForeignDeletion } from '@taintmgr/core/drain';
import { isNamed, type NodeChanges, untainting } from '@taintmgr/k8s-adapter/drain';
import { warn } from '../../cli/output.ts';
import { changeNode } from '../../cluster/change-node.ts';
import type { Drain } from './drain.ts';
import { nameOf } from './progress-line.ts';

/** The controller that marks pods so, where managedFields do not say who did. */
const byReason: ReadonlyMap<string, string> = new Map([
  ['DeletionByTaintManager', 'kube-controller-manager'],
  ['DeletionByPodGC', 'kube-controller-manager'],
  ['PreemptionByScheduler', 'kube-scheduler'],
]);

/** Who deleted a pod, as far as its mark says: `kube-controller-manager`, `somebody else`. */
export function deleterText({ manager, reason }: ForeignDeletion): string {
  return manager ?? byReason.get(reason ?? '') ?? 'somebody else';
}

/** Why the drain has stopped. */
export function stopText({ pod, by }: DrainStop): string {
  return (
    `${deleterText(by)} deletes ${nameOf(pod)} on ${pod.nodeName} for a NoExecute taint ` +
    `(${by.reason}), without asking PDBs; the drain stops and takes its taint back`
  );
}

/** What to do instead. */
export function stopHint({ by }: DrainStop, taint: Taint): string {
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  const name = deleterText(by);
  const off =
    name === 'kube-controller-manager'
      ? `start ${name} with --controllers=*,-taint-eviction-controller`
      : `stop ${name}`;
  return `hint: drain with ${other}, for which nobody else evicts, or ${off}`;
}

/**
 * Takes back the taints that this drain has put on, so that nobody else evicts for them any more; the
 * nodes stay cordoned. Where that fails it says what to do by hand.
 */
export async function takeTaintsBack(
  { connection, wanted, survey, output, say }: Drain,
  changes: Map<string, NodeChanges>,
): Promise<void> {
  for (const { node } of survey.nodes) {
    try {
      const isMeant = isNamed(wanted.id);
      const isBack = await changeNode(connection.client, node.name, untainting(isMeant));
      if (!isBack) continue;
      say(`node/${node.name} untainted`);
      const before = changes.get(node.name);
      if (before) changes.set(node.name, { ...before, tainted: false });
    } catch (error) {
      const { key, effect } = wanted.taint;
      const why = error instanceof Error ? error.message : String(error);
      const command = `kubectl taint nodes ${node.name} ${key}:${effect}-`;
      warn(output, `node ${node.name} keeps ${formatTaint(wanted.taint)}: ${why}; run: ${command}`);
    }
  }
}
