// The NodeDrains of a cluster, as `status` shows them.
import { formatDuration, type Instant, parseTime } from '@taintmgr/core/time';
import type { NodeDrainObject } from '../../cluster/node-drains.ts';
import { printable } from '../../render/printable.ts';
import { renderTable } from '../../render/table.ts';
import { blockerOf, phaseOf, stayingOf } from '../../report/node-drains.ts';
import { none } from '../../report/words.ts';

/** A line for each. */
export function renderNodeDrains(at: Instant, drains: readonly NodeDrainObject[]): string {
  const rows = drains.map((drain) => {
    const { nodes = 0, nodesDrained = 0, podsGone = 0, podsLeft = 0 } = drain.status ?? {};
    const { podsStaying = 0 } = drain.status ?? {};
    const end = parseTime(drain.status?.expectedEnd ?? '');
    const ofPods = [`${podsGone} of ${podsGone + podsLeft}`, `${podsStaying}`];
    const counts = [`${nodesDrained} of ${nodes}`, ...ofPods];
    const left = end === null || end <= at ? none : `in ${formatDuration(end - at)}`;
    return [
      drain.metadata.name,
      phaseOf(drain),
      ...counts,
      left,
      blockerOf(drain) ?? stayingOf(drain) ?? none,
    ].map(printable);
  });
  const ofPods = ['PODS GONE', 'PODS STAYING'];
  const heads = ['NODEDRAIN', 'PHASE', 'NODES DRAINED', ...ofPods, 'EXPECTED END', 'BLOCKED BY'];
  return renderTable(heads, rows);
}

export function nodeDrainDocument({ metadata, status }: NodeDrainObject): object {
  const { conditions: _, pods: _pods, ...said } = status ?? {};
  return { name: metadata.name, ...said };
}
