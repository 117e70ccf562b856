// The cluster's zones, limits, pauses and drains: status.
import { maintenanceOf } from '@taintmgr/core';
import { drainStaleMs, type EvictionRequest, isOpenRequest } from '@taintmgr/core/drain';
import type { EvictionPause } from '@taintmgr/core/policy';
import { formatDuration, formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import { type DutyVerdict, type Evictors, verdictText } from '@taintmgr/k8s-adapter';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  apiVersion,
  asOf,
  blockerOf,
  evictorDocument,
  maintenanceDocument,
  type NodeReport,
  none,
  pausedText,
  pausesInForce,
  phaseOf,
  reportOnPresent,
  requestDocument,
  soon,
  stayingOf,
  surveyPending,
  trippedDocument,
  type ZoneCounts,
  zonesIn,
} from '@taintmgr/k8s-adapter/explain';
import {
  type ClockEvent,
  ClusterReader,
  drainsOn,
  type Evictor,
  type ForecastSurvey,
  isFresh,
  listNodeDrains,
  type MarkedDrain,
  type NodeDrainObject,
  type NodeFacts,
  type RunningDrain,
  runningDrains,
  type TaintManager,
  type TrippedLimit,
  upstreamVerdict,
} from '@taintmgr/k8s-adapter/survey';
import { type OutputFlags, type PolicyFlag, readPolicyFlag } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, printAnswer, readFormat } from '../../render/printer.ts';
import { type Column, renderColumns, renderTable, type TableOptions } from '../../render/table.ts';
import type { RuleSection } from './device-rules.ts';
import { renderShadows, shadowDocument, shadowsIn } from './shadow.ts';

/** The command line of `status`. */
export interface StatusFlags extends OutputFlags, PolicyFlag {
  readonly shadow?: true | undefined;
}

/** `status`: one look at the whole cluster. */
export async function run(invocation: Invocation<StatusFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const files = await readPolicyFlag(flags, output);
  return await withConnection(invocation, async ({ client }) => {
    const reader = new ClusterReader(client);
    if (flags.shadow) {
      const answer = await shadowAnswer(reader);
      output.write(await printAnswer(answer, format, flags.headers !== false, output));
      return exitCode.done;
    }
    const nodes = await reader.nodes();
    const survey = await surveyPending(reader, nodes, { files });
    const reports = reportOnPresent(survey).nodes;
    const [clocks, managers, nodeDrains, deviceRules] = await Promise.all([
      reader.clockEvents(),
      reader.taintManagers(),
      listNodeDrains(client),
      readDeviceRules(reader, survey),
    ]);
    const tripped = survey.limits?.tripped ?? [];
    const pauses = pausesInForce(survey.policies.objects, survey.at);
    const status = {
      ...statusOf(survey, nodes, reports),
      clocks,
      tripped,
      pauses,
      managers,
      nodeDrains,
      deviceRules,
      requests: (survey.requests ?? []).filter(isOpenRequest),
      maintained: nodes.filter(({ node }) => maintenanceOf(node).length > 0),
    };
    const answer = {
      document: statusDocument(status),
      rows: status.zones,
      names: status.drains.flatMap((drain) => drain.nodes.map((name) => `node/${name}`)),
      table: (options: Parameters<typeof renderStatus>[1]) => renderStatus(status, options),
    };
    output.write(await printAnswer(answer, format, flags.headers !== false, output));
    for (const text of survey.refused) warn(output, `not everything could be read: ${text}`);
    return exitCode.done;
  });
}

/** The rules that taint devices. Their code is loaded where the cluster has devices. */
async function readDeviceRules(
  reader: ClusterReader,
  survey: ForecastSurvey,
): Promise<RuleSection | null> {
  if (!(await reader.servesDevices())) return null;
  const { ruleSection } = await import('./device-rules.ts');
  return await ruleSection(reader, survey);
}

/** What controllers in a dry run publish. */
async function shadowAnswer(reader: Pick<ClusterReader, 'taintManagers'>): Promise<Answer> {
  const shadows = shadowsIn(await reader.taintManagers());
  const at = Date.now();
  return {
    document: shadowDocument(at, shadows),
    rows: shadows.flatMap(({ report }) => report.taints ?? []),
    names: shadows.map(({ manager }) => `taintmanager/${manager.name}`),
    table: (options) => renderShadows(at, shadows, options),
  };
}

/** How a cluster is doing. */
interface Status {
  readonly at: Instant;
  readonly evictors: Evictors;
  /** Which of them acts on NoExecute taints. */
  readonly evictor: Evictor;
  readonly zones: readonly ZoneCounts[];
  readonly drains: readonly MarkedDrain[];
  /** Those that controllers carry out. */
  readonly nodeDrains: readonly NodeDrainObject[];
  /** Those that evict the pods of a node, or did when they were last heard of. */
  readonly running: readonly RunningDrain[];
  /** What controllers have said about clocks of late, the latest last. */
  readonly clocks: readonly ClockEvent[];
  /** Limits of the controller that hold evictions until they are resumed. */
  readonly tripped: readonly TrippedLimit[];
  /** Those that hold evictions. */
  readonly pauses: readonly EvictionPause[];
  /** What leaders publish of themselves. */
  readonly managers: readonly TaintManager[];
  /** Those by which somebody is asked to move a pod. */
  readonly requests: readonly EvictionRequest[];
  /** Those that taint devices; null: there are none, or we may not see them. */
  readonly deviceRules: RuleSection | null;
  /** Nodes of which conditions say that they are drained or maintained. */
  readonly maintained: readonly NodeFacts[];
}

/** Counts what was read, zone by zone in the order of their names. */
function statusOf(
  { at, evictors, evictor }: Pick<Status, 'at' | 'evictors' | 'evictor'>,
  nodes: readonly NodeFacts[],
  reports: readonly NodeReport[],
): Omit<
  Status,
  'tripped' | 'pauses' | 'managers' | 'nodeDrains' | 'requests' | 'deviceRules' | 'maintained'
> {
  return {
    at,
    evictors,
    evictor,
    zones: zonesIn({ at, evictor }, nodes, reports),
    drains: drainsOn(nodes),
    running: runningDrains(nodes),
    clocks: [],
  };
}

/** The status as a document. */
function statusDocument(status: Status): object {
  const { at, evictors, evictor, zones, drains, running, clocks } = status;
  const { tripped, pauses, managers, nodeDrains, requests, deviceRules, maintained } = status;
  return {
    apiVersion,
    kind: 'Status',
    ...asOf(at, 0),
    ...evictorDocument(evictor),
    controllers: {
      kubeControllerManager: controllerDocument(upstreamVerdict(evictors)),
      taintmgrController: controllerDocument(evictors.taintmgr),
    },
    zones: zones.map(({ next, ...zone }) => {
      return { ...zone, nextSeconds: next === null ? undefined : Math.floor(next / 1000) };
    }),
    drains,
    ...(nodeDrains.length > 0 && { nodeDrains: nodeDrains.map(nodeDrainDocument) }),
    ...(deviceRules && { deviceTaintRules: deviceRules.documents }),
    ...(running.length > 0 && { runningDrains: running.map((one) => runningDocument(at, one)) }),
    ...(clocks.length > 0 && {
      clocks: clocks.map(({ at: time, message }) => {
        return { ...(time !== null && { at: formatTime(time) }), message };
      }),
    }),
    ...(managers.length > 0 && { taintManagers: managers.map((one) => managerDocument(at, one)) }),
    ...(tripped.length > 0 && {
      trippedLimits: tripped.map(trippedDocument),
    }),
    ...(pauses.length > 0 && { pauses: pauses.map(pauseDocument) }),
    ...(maintained.length > 0 && {
      nodes: maintained.map(({ node }) => ({ name: node.name, ...maintenanceDocument(node) })),
    }),
    ...(requests.length > 0 && {
      evictionRequests: requests.map((one) => {
        return { namespace: one.namespace, ...requestDocument(one) };
      }),
    }),
  };
}

function runningDocument(at: Instant, { id, node, by, heartbeat }: RunningDrain): object {
  const isAlive = at - heartbeat < drainStaleMs;
  return { id, node, ...(by !== '' && { by }), heartbeat: formatTime(heartbeat), isAlive };
}

function managerDocument(now: Instant, manager: TaintManager): object {
  const { name, leader, version, startedAt, renewedAt, settings, troubles } = manager;
  return {
    ...{ name, leader, version, settings, troubles },
    leads: isFresh(manager, now),
    ...(startedAt !== null && { startedAt: formatTime(startedAt) }),
    ...(renewedAt !== null && { renewTime: formatTime(renewedAt) }),
  };
}

const truths = { acts: 'True', doesNotAct: 'False', unknown: 'Unknown' } as const;

/** Whether a controller evicts, as conditions say it; who, where that is known; how it is known. */
function controllerDocument(verdict: DutyVerdict): object {
  const who = 'who' in verdict ? verdict.who : null;
  const [lease] = verdict.evidence.filter(({ kind }) => kind === 'lease');
  const renewedAt = lease?.kind === 'lease' ? lease.lease.renewedAt : null;
  return {
    evicts: truths[verdict.kind],
    ...(who !== null && { who }),
    ...(renewedAt !== null && { renewedAt: formatTime(renewedAt) }),
    message: verdictText(verdict),
  };
}

const nodesShownMax = 3;
const clocksShownMax = 3;
/** Of what stands before a controller's line. */
const labelWidth = 27;

/** Who evicts, the zones, and the drains that have left marks. */
function renderStatus(status: Status, options: TableOptions): string {
  const { at, evictors, zones, running, clocks, tripped, pauses, managers } = status;
  const { nodeDrains, requests, deviceRules, maintained } = status;
  const objects = new Set(nodeDrains.map(({ metadata }) => metadata.name));
  const drains = status.drains.filter(({ id }) => !objects.has(id));
  const table = renderColumns(zoneColumns, zones, options);
  if (!options.headers) return table;
  const upstream = upstreamVerdict(evictors);
  return [
    `kube-controller-manager:   ${printable(verdictText(upstream))}`,
    `taintmgr-controller:       ${printable(verdictText(evictors.taintmgr, 'runs'))}`,
    ...managers.flatMap((manager) => managerLines(at, manager)),
    '',
    zones.length === 0 ? 'No nodes found.' : table,
    ...(nodeDrains.length === 0 ? [] : ['', renderNodeDrains(at, nodeDrains)]),
    ...(deviceRules ? ['', deviceRules.text] : []),
    ...(maintained.length === 0 ? [] : ['', renderMaintenance(maintained, at)]),
    ...(requests.length === 0 ? [] : ['', renderRequests(requests)]),
    ...(drains.length === 0 ? [] : ['', renderDrains(drains, options.wide)]),
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
  ['NEXT', ({ next, held }) => (next === null ? (held > 0 ? 'held' : '-') : soon(next))],
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
  const sum = (of: 'tainted' | 'pending' | 'held' | 'overdue' | 'blocked' | 'stuck'): number =>
    zones.reduce((total, zone) => total + zone[of], 0);
  const head = `${count(sum('tainted'), 'tainted node')}, ${count(sum('pending'), 'eviction')} pending`;
  const bad = (['held', 'overdue', 'blocked', 'stuck'] as const).filter((what) => sum(what) > 0);
  const last = zones.reduce((total, { lastReplicas = 0 }) => total + lastReplicas, 0);
  const unknown = zones.reduce((total, zone) => total + (zone.unknown ?? 0), 0);
  return [
    ...[head, ...bad.map((what) => `${sum(what)} ${what}`)],
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(last > 0 ? [`${last} kept as the last ready replica of taintmgr-controller`] : []),
  ].join(', ');
}

/** A line for each. */
function renderNodeDrains(at: Instant, drains: readonly NodeDrainObject[]): string {
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

function nodeDrainDocument({ metadata, status }: NodeDrainObject): object {
  const { conditions: _, pods: _pods, ...said } = status ?? {};
  return { name: metadata.name, ...said };
}

/** What somebody can do about them stands below. */
function renderPauses(at: Instant, pauses: readonly EvictionPause[]): string {
  const rows = pauses.map((pause) => {
    const { name, until, reason } = pause;
    const since = sinceOf(pause);
    const held = [
      since === null ? '-' : ago(at, since),
      until === null ? '-' : formatTime(until),
      pausedText(pause),
    ];
    return [name, ...held, reason || '-'].map(printable);
  });
  const table = renderTable(['PAUSE', 'SINCE', 'UNTIL', 'HOLDS', 'REASON'], rows);
  return `${table}\nA pause is ended by: kubectl taintmgr resume pause/NAME`;
}

function pauseDocument(pause: EvictionPause): object {
  const { name, until, reason, readiness, deadlines } = pause;
  const since = sinceOf(pause);
  return {
    name,
    holds: pausedText(pause),
    ...(since !== null && { since: formatTime(since) }),
    ...(until !== null && { until: formatTime(until) }),
    ...(reason !== '' && { reason }),
    deadlines,
    readiness,
  };
}

/** What holds because an object cannot be read has no beginning of its own. */
function sinceOf({ uid, since }: EvictionPause): Instant | null {
  return uid === '' ? null : since;
}

/** So many are told, the others are counted. */
const shownMax = 10;

/** A line for each condition by which others say that a node is drained or maintained, the first ones of many. */
function renderMaintenance(nodes: readonly NodeFacts[], now: Instant): string {
  const rows = nodes.flatMap(({ node }) =>
    maintenanceOf(node).map(({ type, reason, message, transitionAt }) => {
      const since = transitionAt === null ? none : ago(now, transitionAt);
      return [node.name, type, reason || none, since, message || none].map(printable);
    }),
  );
  const shown = rows.slice(0, shownMax);
  const table = renderTable(['NODE', 'CONDITION', 'REASON', 'SINCE', 'MESSAGE'], shown);
  const more = rows.length - shown.length;
  return more > 0 ? `${table}\nand ${more} more` : table;
}

/** A line for each that is open, the first ones of many. */
function renderRequests(requests: readonly EvictionRequest[]): string {
  const rows = requests.slice(0, shownMax).map(({ namespace, name, requester, responder }) => {
    const said = responder?.message || none;
    return [`${namespace}/${name}`, requester, responder?.name ?? none, said].map(printable);
  });
  const table = renderTable(['EVICTIONREQUEST', 'REQUESTER', 'ANSWERED BY', 'PROGRESS'], rows);
  const more = requests.length - rows.length;
  return more > 0 ? `${table}\nand ${more} more` : table;
}
