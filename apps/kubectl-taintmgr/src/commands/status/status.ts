// The cluster's zones, limits, pauses and drains: status.
import { maintenanceOf } from '@taintmgr/core';
import { drainStaleMs, type EvictionRequest, isOpenRequest } from '@taintmgr/core/drain';
import type { EvictionPause } from '@taintmgr/core/policy';
import { formatDuration, formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import {
  type DutyVerdict,
  type Evictors,
  isHoldingPause,
  verdictText,
} from '@taintmgr/k8s-adapter';
import { count } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  apiVersion,
  asOf,
  blockerOf,
  evictorDocument,
  evictorText,
  heldWarnings,
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
import type { Tone } from '../../render/style.ts';
import {
  brokenText,
  type Column,
  renderColumns,
  renderFields,
  type TableOptions,
} from '../../render/table.ts';
import type { RuleSection } from './device-rules.ts';
import { identities } from './identities.ts';
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
      warnings: heldWarnings(reports.flatMap(({ pods }) => pods ?? [])),
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

/** The published status of controllers in a dry run. */
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

/** The state of a cluster. */
interface Status {
  readonly at: Instant;
  readonly evictors: Evictors;
  /** The one that acts on NoExecute taints. */
  readonly evictor: Evictor;
  readonly zones: readonly ZoneCounts[];
  readonly drains: readonly MarkedDrain[];
  /** The NodeDrains that controllers carry out. */
  readonly nodeDrains: readonly NodeDrainObject[];
  /** The drains that evict the pods of a node, or did when they were last heard of. */
  readonly running: readonly RunningDrain[];
  /** The recent reports of controllers about clocks, the latest last. */
  readonly clocks: readonly ClockEvent[];
  /** Limits of the controller that hold evictions until they are resumed. */
  readonly tripped: readonly TrippedLimit[];
  /** The pauses that hold evictions. */
  readonly pauses: readonly EvictionPause[];
  /** The published status of leaders. */
  readonly managers: readonly TaintManager[];
  /** The requests to move a pod. */
  readonly requests: readonly EvictionRequest[];
  /** The rules that taint devices; null: there are none, or they may not be read. */
  readonly deviceRules: RuleSection | null;
  /** Nodes of which conditions say that they are drained or maintained. */
  readonly maintained: readonly NodeFacts[];
  /** The obstacles that keep pods from leaving until a person acts. */
  readonly warnings: readonly string[];
}

/** Counts the objects, zone by zone in the order of their names. */
function statusOf(
  { at, evictors, evictor }: Pick<Status, 'at' | 'evictors' | 'evictor'>,
  nodes: readonly NodeFacts[],
  reports: readonly NodeReport[],
): Omit<
  Status,
  | 'tripped'
  | 'pauses'
  | 'managers'
  | 'nodeDrains'
  | 'requests'
  | 'deviceRules'
  | 'maintained'
  | 'warnings'
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

/**
 * The verdict on a controller in words of conditions: does it evict, its name where that is known, and the
 * evidence.
 */
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

/** The answer in a sentence, what needs action, zones, drains and what holds evictions; identities come last. */
function renderStatus(status: Status, options: TableOptions): string {
  const { at, zones, running, clocks, tripped, pauses } = status;
  const { nodeDrains, requests, deviceRules, maintained } = status;
  const objects = new Set(nodeDrains.map(({ metadata }) => metadata.name));
  const drains = status.drains.filter(({ id }) => !objects.has(id));
  const table = renderColumns(zoneColumns, zones, options);
  if (!options.headers) return table;
  const parts = [
    headOf(status, options),
    zones.length === 0 ? 'No nodes found.' : table,
    ...(tripped.length === 0 ? [] : [renderTripped(at, tripped, options)]),
    ...(pauses.length === 0 ? [] : [renderPauses(at, pauses, options)]),
    ...(nodeDrains.length === 0 ? [] : [renderColumns(nodeDrainColumns(at), nodeDrains, options)]),
    ...(drains.length === 0 ? [] : [renderColumns(drainColumns(options.wide), drains, options)]),
    ...(running.length === 0 ? [] : [renderColumns(runningColumns(at), running, options)]),
    ...(deviceRules ? [deviceRules.table(options)] : []),
    ...(maintained.length === 0 ? [] : [renderMaintenance(maintained, at, options)]),
    ...(requests.length === 0 ? [] : [renderRequests(requests, options)]),
    ...(clocks.length === 0 ? [] : [clockLines(at, clocks, options).join('\n')]),
    identities(status, options).join('\n'),
  ];
  return parts.join('\n\n');
}

/** The state of the cluster, the controller that evicts, and the actions for a person. */
function headOf(status: Status, options: TableOptions): string {
  const { zones, evictor } = status;
  const needed = actionsNeeded(status);
  const more = needed.length - actionsShownMax;
  return [
    ...brokenText(summary(zones), options.width).map((line) => {
      return options.paint(summaryTone(zones, needed), line);
    }),
    ...renderFields([['Evicted by', evictorText(evictor)]], options),
    ...(needed.length === 0 ? [] : [options.paint('urgent', 'Needs action:')]),
    ...needed.slice(0, actionsShownMax).flatMap((text) => listItem(text, options)),
    ...(more > 0 ? listItem(`and ${more} more: kubectl taintmgr doctor`, options) : []),
  ].join('\n');
}

const actionsShownMax = 5;

function listItem(text: string, { width }: TableOptions): readonly string[] {
  const lines = brokenText(text, width === null ? null : width - 4);
  return lines.map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`);
}

/** The problems that do not resolve by themselves. */
function actionsNeeded(status: Status): readonly string[] {
  const { at, evictor, tripped, pauses, managers, running, zones, warnings } = status;
  const stuck = sumOf(zones, 'stuck');
  const unread = pauses.filter(isHoldingPause);
  const lost = running.filter(({ heartbeat }) => at - heartbeat >= drainStaleMs);
  const silent = managers.filter((one) => !one.isResigned && !isFresh(one, at));
  return [
    ...(evictor.name === 'both'
      ? ['kube-controller-manager and taintmgr-controller both evict: kubectl taintmgr doctor']
      : []),
    ...(evictor.name === 'nobody' && sumOf(zones, 'pending') > 0
      ? ['no controller evicts: pods stay until one runs']
      : []),
    ...silent.map(({ leader, renewedAt }) => {
      const long = renewedAt === null ? '' : ` for ${formatDuration(at - renewedAt)}`;
      return `${leader} has sent no heartbeat${long}: taintmgr-controller may not run`;
    }),
    ...managers.filter((one) => isFresh(one, at)).flatMap(({ troubles }) => troubles),
    ...(tripped.length > 0
      ? [`${count(tripped.length, 'limit')} tripped: kubectl taintmgr resume`]
      : []),
    ...unread.map(({ reason }) => {
      return `${reason.split(':')[0]}: taintmgr-controller holds all evictions`;
    }),
    ...lost.map(({ id, node }) => `drain ${id} of ${node} has stopped: run it again, or undo it`),
    ...(stuck > 0 ? [`${count(stuck, 'pod')} cannot end: kubectl taintmgr doctor`] : []),
    ...warnings,
  ];
}

function clockLines(
  now: Instant,
  clocks: readonly ClockEvent[],
  { width }: TableOptions,
): readonly string[] {
  return clocks.slice(-clocksShownMax).flatMap(({ at, message }) => {
    const when = at === null ? '' : ` (${ago(now, at)})`;
    return brokenText(`clock: ${message}${when}`, width);
  });
}

/** Red where there are any. */
function badIf(number: (zone: ZoneCounts) => number): {
  readonly tone: (zone: ZoneCounts) => Tone | null;
} {
  return { tone: (zone) => (number(zone) > 0 ? 'urgent' : null) };
}

const zoneColumns: readonly Column<ZoneCounts>[] = [
  ['ZONE', ({ name }) => name || none],
  ['STATE', ({ state }) => state, { tone: ({ state }) => (state === 'Normal' ? null : 'urgent') }],
  ['NODES', ({ nodes }) => String(nodes)],
  ['NOT READY', ({ notReady }) => String(notReady), badIf(({ notReady }) => notReady)],
  ['TAINTED', ({ tainted }) => String(tainted)],
  ['PENDING', ({ pending }) => String(pending), { tone: () => 'soon' }],
  ['OVERDUE', ({ overdue }) => String(overdue), badIf(({ overdue }) => overdue)],
  ['BLOCKED', ({ blocked }) => String(blocked), badIf(({ blocked }) => blocked)],
  ['STUCK', ({ stuck }) => String(stuck), badIf(({ stuck }) => stuck)],
  ['NEXT', ({ next, held }) => (next === null ? (held > 0 ? 'held' : '-') : soon(next))],
];

function drainColumns(wide: boolean): readonly Column<MarkedDrain>[] {
  return [
    ['DRAIN', ({ id }) => id],
    ['TAINT', ({ taint }) => taint, { below: 'taint' }],
    ['NODES', ({ nodes }) => nodesText(nodes, wide)],
  ];
}

/** A drain that is not heard of may have been killed: its pods are the controller's again. */
function runningColumns(at: Instant): readonly Column<RunningDrain>[] {
  const isLost = ({ heartbeat }: RunningDrain): boolean => at - heartbeat >= drainStaleMs;
  return [
    ['RUNNING DRAIN', ({ id }) => id],
    ['NODE', ({ node }) => node],
    ['BY', ({ by }) => by || none],
    [
      'HEARTBEAT',
      (drain) => `${ago(at, drain.heartbeat)}${isLost(drain) ? ', lost' : ''}`,
      { tone: (drain) => (isLost(drain) ? 'urgent' : null) },
    ],
  ];
}

function renderTripped(
  at: Instant,
  tripped: readonly TrippedLimit[],
  options: TableOptions,
): string {
  const columns: readonly Column<TrippedLimit>[] = [
    ['TRIPPED LIMIT', ({ id }) => id],
    ['SINCE', ({ since }) => ago(at, since)],
    ['EVICTED', ({ count: counted }) => (counted ? String(counted.evicted) : '-')],
    ['OF', ({ count: counted }) => (counted ? String(counted.of) : '-')],
  ];
  const hint = 'To let the pods of a tripped limit go: kubectl taintmgr resume';
  return [renderColumns(columns, tripped, options), ...brokenText(hint, options.width)].join('\n');
}

function nodesText(nodes: readonly string[], wide: boolean): string {
  const shown = wide ? nodes : nodes.slice(0, nodesShownMax);
  const more = nodes.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

type Sum = 'nodes' | 'tainted' | 'pending' | 'held' | 'overdue' | 'blocked' | 'stuck';

function sumOf(zones: readonly ZoneCounts[], of: Sum): number {
  return zones.reduce((total, zone) => total + zone[of], 0);
}

/** `3 tainted nodes, 6 evictions pending, 3 overdue, 4 blocked; next now` */
function summary(zones: readonly ZoneCounts[]): string {
  const head = `${count(sumOf(zones, 'tainted'), 'tainted node')}, ${count(sumOf(zones, 'pending'), 'eviction')} pending`;
  const bad = (['held', 'overdue', 'blocked', 'stuck'] as const).filter(
    (what) => sumOf(zones, what) > 0,
  );
  const last = zones.reduce((total, { lastReplicas = 0 }) => total + lastReplicas, 0);
  const unknown = zones.reduce((total, zone) => total + (zone.unknown ?? 0), 0);
  const next = zones.flatMap((zone) => zone.next ?? []);
  const counts = [
    ...[head, ...bad.map((what) => `${sumOf(zones, what)} ${what}`)],
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(last > 0 ? [`${last} kept as the last ready replica of taintmgr-controller`] : []),
  ].join(', ');
  return next.length === 0 ? counts : `${counts}; next ${soon(Math.min(...next))}`;
}

function summaryTone(zones: readonly ZoneCounts[], needed: readonly string[]): Tone {
  const isBad = needed.length > 0 || sumOf(zones, 'overdue') > 0;
  return isBad ? 'urgent' : sumOf(zones, 'pending') > 0 ? 'soon' : 'calm';
}

function nodeDrainColumns(at: Instant): readonly Column<NodeDrainObject>[] {
  const of = ({ status = {} }: NodeDrainObject): NonNullable<NodeDrainObject['status']> => status;
  const ended = (drain: NodeDrainObject): Instant | null => parseTime(of(drain).expectedEnd ?? '');
  return [
    ['NODEDRAIN', ({ metadata }) => metadata.name],
    ['PHASE', phaseOf],
    ['NODES', (drain) => `${of(drain).nodesDrained ?? 0} of ${of(drain).nodes ?? 0}`],
    [
      'PODS GONE',
      (drain) => {
        const { podsGone = 0, podsLeft = 0 } = of(drain);
        return `${podsGone} of ${podsGone + podsLeft}`;
      },
    ],
    ['STAYING', (drain) => String(of(drain).podsStaying ?? 0)],
    [
      'ENDS',
      (drain) => {
        const end = ended(drain);
        return end === null || end <= at ? none : `in ${formatDuration(end - at)}`;
      },
    ],
    ['BLOCKED BY', (drain) => blockerOf(drain) ?? stayingOf(drain) ?? none, { tone: () => 'soon' }],
  ];
}

function nodeDrainDocument({ metadata, status }: NodeDrainObject): object {
  const { conditions: _, pods: _pods, ...said } = status ?? {};
  return { name: metadata.name, ...said };
}

/** The remedies stand below. */
function renderPauses(
  at: Instant,
  pauses: readonly EvictionPause[],
  options: TableOptions,
): string {
  const columns: readonly Column<EvictionPause>[] = [
    ['PAUSE', ({ name }) => name],
    [
      'SINCE',
      (pause) => {
        const since = sinceOf(pause);
        return since === null ? '-' : ago(at, since);
      },
    ],
    ['UNTIL', ({ until }) => (until === null ? '-' : formatTime(until))],
    ['HOLDS', pausedText, { tone: () => 'soon' }],
    ['REASON', ({ reason }) => reason || '-', { below: 'reason:' }],
  ];
  const hint = 'To end a pause: kubectl taintmgr resume pause/NAME';
  return [renderColumns(columns, pauses, options), ...brokenText(hint, options.width)].join('\n');
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

/** A hold for an object that cannot be read has no beginning. */
function sinceOf({ uid, since }: EvictionPause): Instant | null {
  return uid === '' ? null : since;
}

/** The number that is listed; the others are counted. */
const shownMax = 10;

/** A line for each condition by which others say that a node is drained or maintained, the first ones of many. */
function renderMaintenance(
  nodes: readonly NodeFacts[],
  now: Instant,
  options: TableOptions,
): string {
  type Condition = ReturnType<typeof maintenanceOf>[number] & { readonly node: string };
  const rows = nodes.flatMap(({ node }) =>
    maintenanceOf(node).map((condition): Condition => ({ ...condition, node: node.name })),
  );
  const columns: readonly Column<Condition>[] = [
    ['NODE', ({ node }) => node],
    ['CONDITION', ({ type }) => type],
    ['REASON', ({ reason }) => reason || none],
    ['SINCE', ({ transitionAt: since }) => (since === null ? none : ago(now, since))],
    ['MESSAGE', ({ message }) => message || none, { below: '' }],
  ];
  return firstOf(columns, rows, options);
}

/** A line for each that is open, the first ones of many. */
function renderRequests(requests: readonly EvictionRequest[], options: TableOptions): string {
  const columns: readonly Column<EvictionRequest>[] = [
    ['EVICTIONREQUEST', ({ namespace, name }) => `${namespace}/${name}`],
    ['REQUESTER', ({ requester }) => requester],
    ['ANSWERED BY', ({ responder }) => responder?.name ?? none],
    ['PROGRESS', ({ responder }) => responder?.message || none, { below: 'progress:' }],
  ];
  return firstOf(columns, requests, options);
}

/** The first rows, and how many more there are. */
function firstOf<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  options: TableOptions,
): string {
  const table = renderColumns(columns, rows.slice(0, shownMax), options);
  const more = rows.length - shownMax;
  return more > 0 ? `${table}\nand ${more} more` : table;
}
