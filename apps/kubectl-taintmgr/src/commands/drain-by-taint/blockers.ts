// What blocks a drain, and what can be done about it.

import { formatTaint } from '@taintmgr/core';
import type { DrainPlan, PlannedPod, PredictedBlocker } from '@taintmgr/core/drain';
import { count } from '../../render/count.ts';
import { printable } from '../../render/printable.ts';
import { blockerLine } from '../../report/words.ts';
import { goesAnyway } from './plan-table.ts';
import { nameOf } from './progress-line.ts';

const namesMax = 3;

/** A line for each thing that would hold pods back, before anything is done about it. */
export function blockerLines({ pods }: DrainPlan): readonly string[] {
  const found = new Map<
    string,
    { readonly blocker: PredictedBlocker; readonly pods: PlannedPod[] }
  >();
  for (const planned of pods) {
    for (const blocker of planned.blockers) {
      const entry = found.get(blocker.message) ?? { blocker, pods: [] };
      entry.pods.push(planned);
      found.set(blocker.message, entry);
    }
  }
  return Array.from(found.values(), ({ blocker, pods: held }) => {
    return printable(`${podsText(held)}: ${blockerLine(blocker)}`);
  });
}

/** A line about the pods that the DaemonSet controller will delete; null: there are none. */
export function daemonSetLine({ taint, pods }: DrainPlan): string | null {
  const going = pods.filter(({ fate }) => goesAnyway(fate));
  if (going.length === 0) return null;
  return (
    `${podsText(going)}: the DaemonSet controller deletes what does not tolerate ` +
    `${formatTaint(taint)}, and ignores PodDisruptionBudgets`
  );
}

/** By uid, what of it concerns each pod. */
export function alreadySaid({ pods }: DrainPlan): ReadonlyMap<string, string> {
  return new Map(
    pods.flatMap(({ pod, blockers: [first] }) => (first ? [[pod.uid, first.message]] : [])),
  );
}

/** Whether something is in the way that no waiting helps. */
export function cannotFinish({ pods }: DrainPlan): boolean {
  return pods.some(({ blockers }) => blockers.some(({ verdict }) => verdict === 'never'));
}

/** `shop/web-1 on n1`, `shop/web-1 on n1, shop/web-2 on n2, shop/web-3 on n2 and 2 pods more` */
function podsText(pods: readonly PlannedPod[]): string {
  const names = pods.slice(0, namesMax).map(({ pod }) => `${nameOf(pod)} on ${pod.nodeName}`);
  const more = pods.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${count(more, 'pod')} more` : names.join(', ');
}
