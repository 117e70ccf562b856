// The course of changes in a cluster after a snapshot, as far as observed.
import { formatDuration, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { count } from '@taintmgr/k8s-adapter/command-line';
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { RecordingLine } from '../../../cluster/recording.ts';
import { medianOf } from '../result/draws.ts';

/** One object as it was from an instant on. */
export interface ObservedChange {
  readonly at: Instant;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As `pods`. */
  readonly resource: string;
  readonly object: KubeObject;
  /** The change happened at some time after that, and at `at` at the latest; left out: at `at`. */
  readonly after?: Instant;
}

/** A time of which nothing is known of some kind. */
export interface ObservedGap {
  readonly kind: string;
  readonly from: Instant;
  readonly until: Instant;
}

export interface Observed {
  /** The file. */
  readonly name: string;
  readonly from: 'recording' | 'snapshot' | 'Events';
  readonly until: Instant;
  /** In their order. */
  readonly changes: readonly ObservedChange[];
  readonly gaps: readonly ObservedGap[];
  /** Facts that no source reports, in words. */
  readonly unknown: readonly string[];
  /** Pods that an Event says were deleted for a taint, by `namespace/name` and by uid. */
  readonly evictedByEvents: ReadonlySet<string>;
}

/** The kinds that are looked at. */
export const resources: Readonly<Record<string, string>> = {
  Pod: 'pods',
  Node: 'nodes',
  Lease: 'leases',
  Deployment: 'deployments',
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
  Job: 'jobs',
  PodDisruptionBudget: 'poddisruptionbudgets',
};

/** Clocks that differ by less are taken to be right. */
const clockMsMin: Millis = 2_000;

/** Takes a recording of `snapshot --watch`. Its clock is set right by the times that the API server wrote. */
export function observedRecording(name: string, lines: readonly RecordingLine[]): Observed {
  const ahead = clockAhead(lines);
  const isOff = Math.abs(ahead) >= clockMsMin;
  const right = (at: Instant): Instant => (isOff ? at - ahead : at);
  const changes = lines.flatMap((line): ObservedChange[] => {
    if (line.type === 'BEGIN' || line.type === 'GAP' || line.type === 'END') return [];
    const resource = resources[line.object.kind ?? ''];
    const { type, object, after } = line;
    if (!resource) return [];
    return [{ at: right(line.at), type, resource, object, ...(after && { after: right(after) }) }];
  });
  const gaps = lines.flatMap((line): ObservedGap[] => {
    if (line.type !== 'GAP') return [];
    return [{ kind: line.kind, from: right(line.after), until: right(line.at) }];
  });
  const last = lines.findLast(({ type }) => type === 'END');
  const latest = lines.reduce((most, { at }) => Math.max(most, at), Number.NEGATIVE_INFINITY);
  return {
    name,
    from: 'recording',
    until: right(last?.at ?? latest),
    changes: changes.toSorted((one, other) => one.at - other.at),
    gaps,
    unknown: [
      ...(isOff
        ? [`the clock of the recorder was ${offText(ahead)} the API server's: times are set right`]
        : []),
      ...endNotes(last),
      ...missingKinds(lines.flatMap((line) => (line.type === 'BEGIN' ? line.kinds : []))).map(
        (kind) => `what became of ${kind}s: they were not recorded`,
      ),
    ],
    evictedByEvents: evictedIn(lines),
  };
}

function offText(ahead: Millis): string {
  return `${formatDuration(Math.round(Math.abs(ahead)))} ${ahead > 0 ? 'ahead of' : 'behind'}`;
}

/** The kinds without which little can be said. */
export function missingKinds(kinds: readonly string[]): readonly string[] {
  return ['Node', 'Pod', 'Lease'].filter((kind) => !kinds.includes(kind));
}

function endNotes(last: RecordingLine | undefined): readonly string[] {
  if (last?.type !== 'END') {
    return ['the recording has no end: its writer was killed, or the file was cut off'];
  }
  const isBound = last.reason === 'bytes' || last.reason === 'lines';
  return isBound ? [`the recording stopped at its bound of ${last.reason}`] : [];
}

/**
 * The lead of the recorder's clock: the recorder hears of a new pod in the second in which the pod
 * is created.
 */
function clockAhead(lines: readonly RecordingLine[]): Millis {
  const offs = lines.flatMap((line) => {
    if (line.type !== 'ADDED' || line.object.kind !== 'Pod' || line.after !== undefined) return [];
    const created = parseTime(line.object.metadata.creationTimestamp ?? '');
    return created === null ? [] : [line.at - created - 500];
  });
  return offs.length === 0 ? 0 : medianOf(offs);
}

/** Of an Event of taint eviction. */
const marking = 'Marking for deletion';

function evictedIn(lines: readonly RecordingLine[]): ReadonlySet<string> {
  const events = lines.flatMap((line) => {
    return 'object' in line && line.object.kind === 'Event' ? [line.object] : [];
  });
  return evictedByEvents(events);
}

/** Pods that an Event says were deleted for a taint, by `namespace/name` and by uid. */
export function evictedByEvents(events: readonly KubeObject[]): ReadonlySet<string> {
  const pods = events.flatMap((event) => {
    const { reason, message, involvedObject: about } = eventOf(event);
    const isEviction = reason === 'TaintManagerEviction' && message.startsWith(marking);
    return isEviction ? [`${about.namespace}/${about.name}`, about.uid ?? ''] : [];
  });
  return new Set(pods.filter((key) => key !== ''));
}

/** The fields of an Event that are read. */
export interface SeenEvent {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: {
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly uid?: string;
  };
  /** Null: it does not say. */
  readonly at: Instant | null;
}

/** Reads an Event of core/v1 or of events.k8s.io/v1, whatever is in it. */
export function eventOf(event: KubeObject): SeenEvent {
  const value: Readonly<Record<string, unknown>> = event;
  const about = (value.involvedObject ?? value.regarding ?? {}) as Partial<
    SeenEvent['involvedObject']
  >;
  const { eventTime, lastTimestamp, firstTimestamp, deprecatedLastTimestamp } = value;
  const { creationTimestamp } = event.metadata;
  const times = [eventTime, lastTimestamp, firstTimestamp, deprecatedLastTimestamp];
  const at = [...times, creationTimestamp].flatMap((time) => instantOf(time) ?? [])[0] ?? null;
  const { kind = '', namespace = '', name = '', uid } = about;
  return {
    reason: String(value.reason ?? ''),
    message: String(value.message ?? value.note ?? ''),
    involvedObject: { kind, namespace, name, ...(uid && { uid }) },
    at,
  };
}

/** A time of the API; whole seconds are the second in which it was, so that its middle is nearest. */
export function instantOf(text: unknown): Instant | null {
  if (typeof text !== 'string') return null;
  const time = parseTime(text);
  if (time === null) return null;
  return text.includes('.') ? time : time + 500;
}

/** When a pod was asked to leave, as it says itself; null: it was not. */
export function leavingAt({ metadata }: KubeObject): Instant | null {
  const end = instantOf(metadata.deletionTimestamp);
  return end === null ? null : end - 1000 * (metadata.deletionGracePeriodSeconds ?? 0);
}

/** `nothing is known of Pods for 30s from 2m10s` */
export function gapText({ kind, from, until }: ObservedGap, startsAt: Instant): string {
  const lasts = formatDuration(Math.round(until - from));
  return `nothing is known of ${kind}s for ${lasts} from ${formatDuration(Math.round(from - startsAt))} on`;
}

/** `3 pods`, or nothing. */
export function some(number: number, what: string, then: string): readonly string[] {
  return number === 0 ? [] : [`${count(number, what)} ${then}`];
}
