import type { Instant } from '@taintmgr/core';
import type { Actor } from '../../cluster/acting.ts';
import { count } from '../../render/count.ts';
import { printable } from '../../render/printable.ts';
import type { TableOptions } from '../../render/printer.ts';
import { renderTable } from '../../render/table.ts';
import { ago, none, soon } from '../explain/words.ts';
import type { DrainStatus, Status, ZoneStatus } from './status.ts';

const nodesShownMax = 3;

/** Who evicts, the zones, and the drains that have left marks. */
export function renderStatus(
  { at, acting, zones, drains }: Status,
  { wide, headers }: TableOptions,
): string {
  const table = renderZones(zones, headers);
  if (!headers) return table;
  return [
    `kube-controller-manager:   ${actorText(acting.upstream, at)}`,
    `taintmgr-controller:       ${actorText(acting.taintmgr, at)}`,
    '',
    table,
    ...(drains.length === 0 ? [] : ['', renderDrains(drains, wide)]),
    '',
    summary(zones),
  ].join('\n');
}

function actorText(actor: Actor, now: Instant): string {
  switch (actor.kind) {
    case 'runs':
      return printable(`runs (${actor.holder}, renewed ${ago(now, actor.renewedAt)})`);
    case 'silent':
      return printable(`silent (${actor.holder}, last renewed ${ago(now, actor.renewedAt)})`);
    case 'absent':
      return 'holds no lease';
    case 'unknown':
      return 'unknown: no right to see its lease';
  }
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
