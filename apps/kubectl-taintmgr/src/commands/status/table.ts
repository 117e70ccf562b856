// The answer of `status` in lines.
import type { Instant } from '@taintmgr/core';
import { verdictText } from '@taintmgr/k8s-adapter';
import type { ClockEvent } from '../../cluster/clock-events.ts';
import { upstreamVerdict } from '../../cluster/evictors.ts';
import type { TrippedLimit } from '../../cluster/limits.ts';
import { count } from '../../render/count.ts';
import { printable } from '../../render/printable.ts';
import type { TableOptions } from '../../render/printer.ts';
import { renderTable } from '../../render/table.ts';
import { ago, none, soon } from '../../report/words.ts';
import type { DrainStatus, Status, ZoneStatus } from './status.ts';

const nodesShownMax = 3;
const clocksShownMax = 3;

/** Who evicts, the zones, and the drains that have left marks. */
export function renderStatus(
  { at, evictors, zones, drains, clocks, tripped }: Status,
  { wide, headers }: TableOptions,
): string {
  const table = renderZones(zones, headers);
  if (!headers) return table;
  const upstream = upstreamVerdict(evictors);
  return [
    `kube-controller-manager:   ${printable(verdictText(upstream))}`,
    `taintmgr-controller:       ${printable(verdictText(evictors.taintmgr, 'runs'))}`,
    '',
    table,
    ...(drains.length === 0 ? [] : ['', renderDrains(drains, wide)]),
    ...(tripped.length === 0 ? [] : ['', renderTripped(at, tripped)]),
    ...(clocks.length === 0 ? [] : ['', ...clocks.slice(-clocksShownMax).map(clockLine(at))]),
    '',
    summary(zones),
  ].join('\n');
}

function clockLine(now: Instant): (event: ClockEvent) => string {
  return ({ at, message }) => {
    const when = at === null ? '' : ` (${ago(now, at)})`;
    return printable(`clock: ${message}${when}`);
  };
}

function renderZones(zones: readonly ZoneStatus[], headers: boolean): string {
  const head = [
    'ZONE',
    'STATE',
    'NODES',
    'NOT READY',
    'TAINTED',
    'PENDING',
    'OVERDUE',
    'BLOCKED',
    'STUCK',
    'NEXT',
  ];
  const rows = zones.map((zone) => {
    const { nodes, notReady, tainted, pending, overdue, blocked, stuck } = zone;
    const counts = [nodes, notReady, tainted, pending, overdue, blocked, stuck].map(String);
    const next = zone.next === null ? '-' : soon(zone.next);
    return [zone.name || none, zone.state, ...counts, next];
  });
  return renderTable(headers ? head : null, rows);
}

function renderDrains(drains: readonly DrainStatus[], wide: boolean): string {
  const rows = drains.map(({ id, taint, nodes }) => [id, taint, nodesText(nodes, wide)]);
  return renderTable(['DRAIN', 'TAINT', 'NODES'], rows);
}

function renderTripped(at: Instant, tripped: readonly TrippedLimit[]): string {
  const rows = tripped.map(({ id, since, count: counted }) => [
    printable(id),
    ago(at, since),
    counted ? String(counted.evicted) : '-',
    counted ? String(counted.of) : '-',
  ]);
  const table = renderTable(['TRIPPED LIMIT', 'SINCE', 'EVICTED', 'OF'], rows);
  return `${table}\nPods under a tripped limit are not evicted until somebody runs: kubectl taintmgr resume`;
}

function nodesText(nodes: readonly string[], wide: boolean): string {
  const shown = wide ? nodes : nodes.slice(0, nodesShownMax);
  const more = nodes.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function summary(zones: readonly ZoneStatus[]): string {
  const sum = (of: (zone: ZoneStatus) => number): number =>
    zones.reduce((total, zone) => total + of(zone), 0);
  const tainted = count(
    sum((zone) => zone.tainted),
    'tainted node',
  );
  const pending = `${count(
    sum((zone) => zone.pending),
    'eviction',
  )} pending`;
  const parts = [
    [sum((zone) => zone.overdue), 'overdue'],
    [sum((zone) => zone.blocked), 'blocked'],
    [sum((zone) => zone.stuck), 'stuck'],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  return [`${tainted}, ${pending}`, ...named].join(', ');
}
