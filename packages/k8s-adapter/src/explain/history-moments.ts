// The moments of a pod that left, one line for each, with its source.
import { formatTaint } from '@taintmgr/core/model';
import { earliest, formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import type { Departure, Gap } from '../history/departure.ts';
import { count } from '../text/count.ts';
import { compare, deletionSource, eventSource, recordOf } from './history-claims.ts';
import { type Instance, unique } from './history-instances.ts';
import type { HistorySources, Moment, ToldDeparture } from './history-model.ts';
import type { EventTrace, NodeTrace, PodTrace } from './history-traces.ts';

/** The time before a pod was asked to leave in which events of its node may have caused it. */
const beforeMs: Millis = 3_600_000;

/** In their order. */
export function momentsOf(
  instance: Instance,
  { at, nodes, requests, gaps }: Pick<HistorySources, 'at' | 'nodes' | 'requests' | 'gaps'>,
): readonly Moment[] {
  const { departures, pod, events, deletions, node, ofNode: nodeEvents, uid } = instance;
  const own = [
    ...departures.flatMap((departure) => recordMoments(departure, gaps)),
    ...(pod ? podMoments(pod) : []),
    ...events.flatMap((event) => eventMoment(event) ?? []),
    ...deletions.map((event) => {
      const { kind, name, reason, message } = event;
      const isScaling = reason === 'ScalingReplicaSet';
      return momentOf(event, isScaling ? lower(message) : `${kind} ${name} deleted the pod`);
    }),
    ...requests
      .filter(({ podUid, createdAt }) => podUid === uid && uid !== '' && createdAt !== null)
      .map(({ createdAt, requester, name }) => ({
        at: createdAt ?? 0,
        text: `${requester} requested that it be evicted`,
        source: { kind: 'request', name: `EvictionRequest ${name}` } as const,
      })),
  ];
  const trace = nodes.get(node) ?? null;
  const times = own.length === 0 ? [at] : own.map((one) => one.at);
  const first = earliest(times) ?? at;
  const last = times.reduce((one, other) => Math.max(one, other), first);
  const ofNode = [
    ...(trace ? nodeMoments(trace) : []),
    ...nodeEvents.flatMap((event) => nodeMoment(event) ?? []),
  ].filter((one) => one.at >= first - beforeMs && one.at <= last + 999);
  return unique([...own, ...ofNode]).toSorted((a, b) => {
    const ofOne = compare(a.text, b.text) || compare(a.source.name, b.source.name);
    return secondOf(a) - secondOf(b) || rankOf(a) - rankOf(b) || a.at - b.at || ofOne;
  });
}

/** Records have milliseconds, all others whole seconds. */
function secondOf({ at }: Moment): number {
  return Math.floor(at / 1000);
}

/**
 * Within a second causes come first: the node, decisions, marks, requests, their results, the end.
 */
function rankOf({ text, source: { kind, name } }: Moment): number {
  if (kind === 'node' || name.startsWith('Event Node') || text.startsWith('taint ')) return 0;
  if (name.startsWith('Event SuccessfulDelete')) return 5;
  if (kind === 'condition' || kind === 'event') return name.startsWith('Event Killing') ? 6 : 2;
  if (kind === 'deletion') return 5;
  if (text === goneText) return 7;
  if (text.startsWith('refused ')) return 4;
  if (text.startsWith(askedText)) return text.endsWith(acceptedText) ? 5 : 3;
  return text.startsWith('accepted: ') ? 5 : 1;
}

const goneText = 'gone';
const askedText = 'asked to leave';
const acceptedText = ', accepted';

function recordMoments(departure: ToldDeparture, gaps: readonly Gap[]): readonly Moment[] {
  const { taint, decidedAt, deadline, moves = [], refusals = [], way, by, policy } = departure;
  const { askedAt, answeredAt, goneAt, foundGoneAt, deletionTimestamp } = departure;
  const moment = (at: Instant | undefined, text: string, until?: Instant): readonly Moment[] =>
    at === undefined
      ? []
      : [
          {
            at,
            ...(until !== undefined && until > at && { until }),
            text,
            source: recordOf(departure),
          },
        ];
  const first = moves[0] ? moves[0].from : deadline;
  const due = first === undefined ? '' : `: it was to leave at ${formatTime(first)}`;
  const policyText = policy === undefined ? '' : ` by policy ${policy}`;
  const how = way === 'delete' ? 'by DELETE' : 'by pods/eviction';
  const isOwn = by.source === 'ownAct';
  const [askedFirst, accepted] = [askedAt ?? answeredAt, answeredAt];
  const isSlow =
    askedFirst !== undefined && accepted !== undefined && accepted - askedFirst >= 1_000;
  return [
    ...(taint ? moment(taint.since, sinceText(taint, departure.node)) : []),
    ...moment(decidedAt, `decided${policyText}${due}`),
    ...moves.flatMap(({ at, from, to, why, words }) => {
      const span = `${from === undefined ? 'none' : formatTime(from)} to ${to === undefined ? 'none' : formatTime(to)}`;
      return moment(at, `deadline moved from ${span}: ${words ?? why}`);
    }),
    ...refusals.flatMap(({ firstAt, lastAt, words, count: times, status }) => {
      const code = status === undefined ? '' : ` (${status})`;
      // Refusals of a pod that is still refused are written down within a minute.
      const isLate = accepted === undefined || gaps.some((gap) => isCut(gap, firstAt, lastAt));
      const least = isLate ? 'at least ' : '';
      return moment(firstAt, `refused ${least}${count(times, 'time')}${code}: ${words}`, lastAt);
    }),
    ...(isOwn
      ? moment(askedFirst, `${askedText} ${how}${accepted && !isSlow ? acceptedText : ''}`)
      : []),
    ...(isOwn && isSlow ? moment(accepted, `accepted: it leaves ${how}`) : []),
    ...(isOwn ? [] : moment(departure.seenAt, `seen to leave: ${by.reason ?? 'deleted'}`)),
    ...(deletionTimestamp === undefined || goneAt !== undefined
      ? []
      : moment(deletionTimestamp, 'its grace period is over')),
    ...moment(goneAt, goneText),
    ...moment(foundGoneAt, 'found gone by a leader that did not see it go'),
  ];
}

/** A leader that ended in between may have counted more than it wrote. */
function isCut({ from, why }: Gap, firstAt: Instant, lastAt: Instant): boolean {
  return why === 'leaderChanged' && from !== undefined && from >= firstAt && from <= lastAt;
}

function sinceText(taint: NonNullable<Departure['taint']>, node = 'its node'): string {
  const where = taint.device === undefined ? node : `device ${taint.device}`;
  const setter = taint.setBy === undefined ? '' : `, by ${taint.setBy}`;
  return `taint ${formatTaint(taint)} on ${where}${setter}`;
}

function podMoments({ mark, deletionTimestamp, graceMs }: PodTrace): readonly Moment[] {
  const moments: Moment[] = [];
  if (mark?.at != null) {
    // The API server leaves no name: there the one of who marked the pod before it may stand.
    const isOfServer = mark.reason === 'EvictionByEvictionAPI';
    const by = mark.manager && !isOfServer ? `, by ${mark.manager}` : '';
    const source = { kind: 'condition', name: 'condition DisruptionTarget' } as const;
    moments.push({ at: mark.at, text: `marked: ${mark.reason}${by}`, source });
  }
  if (deletionTimestamp !== null && graceMs !== null && graceMs > 0) {
    const text = `deleted, with ${graceMs / 1000}s to end`;
    moments.push({ at: deletionTimestamp - graceMs, text, source: deletionSource });
  }
  return moments;
}

/** Null: it has nothing to do with why the pod went. */
function eventMoment(event: EventTrace): Moment | null {
  const { reason, message } = event;
  if (!tellingReasons.has(reason)) return null;
  const name = ` Pod ${event.namespace}/${event.name}`;
  return momentOf(event, lower(message.replace(`of${name}`, 'of it').replace(name, '')));
}

const tellingReasons: ReadonlySet<string> = new Set([
  ...['TaintManagerEviction', 'DeviceTaintManagerEviction', 'Preempted', 'Evicted', 'Killing'],
  ...['NodeNotReady', 'NodeControllerEviction', 'EvictionIntercepted', 'EvictedByOther'],
  ...['TaintManagerEvictionHeld', 'NodeDeadline', 'EvictionRequested', 'EvictionRequestGivenUp'],
  ...['VolumesNotDetached', 'ExceededGracePeriod', 'FailedKillPod', 'Preempting'],
]);

function momentOf(event: EventTrace, text: string): Moment {
  const { firstAt, lastAt, count: times } = event;
  const often = times > 1 ? ` (${times} times)` : '';
  // creationTimestamp has whole seconds, eventTime has more.
  const isLater = Math.floor(lastAt / 1000) > Math.floor(firstAt / 1000);
  const until = isLater ? { until: lastAt } : {};
  return { at: firstAt, ...until, text: `${text}${often}`, source: eventSource(event) };
}

function lower(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function nodeMoments({ name, taints, taintsWritten, cordoned }: NodeTrace): readonly Moment[] {
  const source = { kind: 'node', name: `managedFields of ${name}` } as const;
  const listed = taints.map(formatTaint).join(', ');
  return [
    ...(taintsWritten && taints.length > 0
      ? [
          {
            at: taintsWritten.at,
            text: `${taintsWritten.by} wrote the taints of ${name} last; now they are ${listed}`,
            source,
          },
        ]
      : []),
    ...(cordoned ? [{ at: cordoned.at, text: `${cordoned.by} cordoned ${name}`, source }] : []),
  ];
}

/** Null: it has nothing to do with why pods go. */
function nodeMoment(event: EventTrace): Moment | null {
  return nodeReasons.has(event.reason) ? momentOf(event, lower(event.message)) : null;
}

const nodeReasons: ReadonlySet<string> = new Set([
  ...[
    'NodeNotReady',
    'RemovingNode',
    'DeletingAllPods',
    'EvictionThresholdMet',
    'NodeNotSchedulable',
  ],
  ...['Shutdown', 'DeletingNode', 'NodeShutdown', 'Rebooted'],
]);
