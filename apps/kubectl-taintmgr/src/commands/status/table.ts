// The answer of `status` in lines.
import { drainStaleMs } from '@taintmgr/core/drain';
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import { verdictText } from '@taintmgr/k8s-adapter';
import type { ClockEvent } from '../../cluster/clock-events.ts';
import type { MarkedDrain, RunningDrain } from '../../cluster/drain-marks.ts';
import { upstreamVerdict } from '../../cluster/evictors.ts';
import type { TrippedLimit } from '../../cluster/limits.ts';
import { isFresh, type TaintManager } from '../../cluster/taint-managers.ts';
import { count } from '../../render/count.ts';
import { printable } from '../../render/printable.ts';
import { type Column, renderColumns, renderTable, type TableOptions } from '../../render/table.ts';
import { renderRequests } from '../../report/eviction-requests.ts';
import { ago, none, soon } from '../../report/words.ts';
import type { ZoneCounts } from '../../report/zones.ts';
import { renderNodeDrains } from './node-drains.ts';
import { renderPauses } from './pauses.ts';
import type { Status } from './status.ts';

const nodesShownMax = 3;
const clocksShownMax = 3;
/** Of what stands before a controller's line. */
const labelWidth = 27;

/** Who evicts, the zones, and the drains that have left marks. */
export function renderStatus(status: Status, { wide, headers }: TableOptions): string {
  const { at, evictors, zones, running, clocks, tripped, pauses, managers } = status;
  const { nodeDrains, requests } = status;
  const objects = new Set(nodeDrains.map(({ metadata }) => metadata.name));
  const drains = status.drains.filter(({ id }) => !objects.has(id));
  const table = renderColumns(zoneColumns, zones, { wide, headers });
  if (!headers) return table;
  const upstream = upstreamVerdict(evictors);
  return [
    `kube-controller-manager:   ${printable(verdictText(upstream))}`,
    `taintmgr-controller:       ${printable(verdictText(evictors.taintmgr, 'runs'))}`,
    ...managers.flatMap((manager) => managerLines(at, manager)),
    '',
    zones.length === 0 ? 'No nodes found.' : table,
    ...(nodeDrains.length === 0 ? [] : ['', renderNodeDrains(at, nodeDrains)]),
    ...(requests.length === 0 ? [] : ['', renderRequests(requests)]),
    ...(drains.length === 0 ? [] : ['', renderDrains(drains, wide)]),
    ...(running.length === 0 ? [] : ['', renderRunning(at, running)]),
    ...(tripped.length === 0 ? [] : ['', renderTripped(at, tripped)]),
    ...(pauses.length === 0 ? [] : ['', renderPauses(at, pauses)]),
    ...(clocks.length === 0 ? [] : ['', ...clocks.slice(-clocksShownMax).map(clockLine(at))]),
    '',
    summary(zones),
  ].join('\n');
}

const settingsShown = ['mode', 'delete-after', 'semantics', 'allow-overlap'];

/** What a leader says of itself, and how old that is. */
function managerLines(now: Instant, manager: TaintManager): readonly string[] {
  const { name, leader, version, startedAt, renewedAt, isResigned, settings, troubles } = manager;
  const who = `${leader} ${version}`;
  const heard = renewedAt === null ? 'at an unknown time' : ago(now, renewedAt);
  const since = startedAt === null ? '' : ` since ${formatTime(startedAt)}`;
  const label = `TaintManager ${name}: `.padEnd(labelWidth);
  const shown = settingsShown.flatMap((flag) => {
    return settings[flag] === undefined ? [] : [`--${flag}=${settings[flag]}`];
  });
  const takeover = settings.takeover === 'true' ? ['--takeover'] : [];
  if (isResigned) return [printable(`${label}${who} stopped leading ${heard}`)];
  if (!isFresh(manager, now)) {
    const age = renewedAt === null ? 'lately' : `for ${formatDuration(now - renewedAt)}`;
    return [printable(`${label}${who} was not heard of ${age}`)];
  }
  const indent = ' '.repeat(labelWidth);
  const isDry = manager.shadow !== null;
  return [
    `${label}${who} ${isDry ? 'keeps score' : 'leads'}${since}, heartbeat ${heard}`,
    ...(isDry ? [`${indent}see: kubectl taintmgr status --shadow`] : []),
    ...(shown.length === 0 ? [] : [`${indent}${[...shown, ...takeover].join(' ')}`]),
    ...troubles.map((text) => `${indent}${text}`),
  ].map(printable);
}

function clockLine(now: Instant): (event: ClockEvent) => string {
  return ({ at, message }) => {
    const when = at === null ? '' : ` (${ago(now, at)})`;
    return printable(`clock: ${message}${when}`);
  };
}

const zoneColumns: readonly Column<ZoneCounts>[] = [
  ['ZONE', ({ name }) => name || none],
  ['STATE', ({ state }) => state],
  ['NODES', ({ nodes }) => String(nodes)],
  ['NOT READY', ({ notReady }) => String(notReady)],
  ['TAINTED', ({ tainted }) => String(tainted)],
  ['PENDING', ({ pending }) => String(pending)],
  ['OVERDUE', ({ overdue }) => String(overdue)],
  ['BLOCKED', ({ blocked }) => String(blocked)],
  ['STUCK', ({ stuck }) => String(stuck)],
  ['NEXT', ({ next, paused }) => (next === null ? (paused > 0 ? 'paused' : '-') : soon(next))],
];

function renderDrains(drains: readonly MarkedDrain[], wide: boolean): string {
  const rows = drains.map(({ id, taint, nodes }) => [id, taint, nodesText(nodes, wide)]);
  return renderTable(['DRAIN', 'TAINT', 'NODES'], rows);
}

/** A drain that is not heard of may have been killed: its pods are the controller's again. */
function renderRunning(at: Instant, running: readonly RunningDrain[]): string {
  const rows = running.map(({ id, node, by, heartbeat }) => {
    const isLost = at - heartbeat >= drainStaleMs;
    return [id, node, by || none, `${ago(at, heartbeat)}${isLost ? ', lost' : ''}`].map(printable);
  });
  return renderTable(['RUNNING DRAIN', 'NODE', 'BY', 'HEARTBEAT'], rows);
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

function summary(zones: readonly ZoneCounts[]): string {
  const sum = (of: 'tainted' | 'pending' | 'paused' | 'overdue' | 'blocked' | 'stuck'): number =>
    zones.reduce((total, zone) => total + zone[of], 0);
  const head = `${count(sum('tainted'), 'tainted node')}, ${count(sum('pending'), 'eviction')} pending`;
  const bad = (['paused', 'overdue', 'blocked', 'stuck'] as const).filter((what) => sum(what) > 0);
  const last = zones.reduce((total, { lastReplicas = 0 }) => total + lastReplicas, 0);
  return [
    ...[head, ...bad.map((what) => `${sum(what)} ${what}`)],
    ...(last > 0 ? [`${last} kept as the last ready replica of taintmgr-controller`] : []),
  ].join(', ');
}
