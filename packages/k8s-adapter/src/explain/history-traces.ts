// The traces that pods leave when they go: what Pods, Nodes and Events say of it, read off their objects.
import { formatTaint, type Taint } from '@taintmgr/core/model';
import type { Instant, Millis } from '@taintmgr/core/time';
import { readMarks } from '../drain/marks.ts';
import type { Owner } from '../history/departure.ts';
import { taintsFrom } from '../proto/convert.ts';
import { type DisruptionMark, disruptionOf } from '../proto/disruption-target.ts';
import { onOneLine } from '../proto/event-requests.ts';
import { asInteger, asList, asRecord, asText, type JsonRecord } from '../proto/json.ts';
import { lastWriteOf } from '../proto/managed-fields.ts';
import { timeFromJson } from '../proto/taint-starts.ts';

/** A pod that the API server has, as far as it matters for who goes and who came instead. */
export interface PodTrace {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** '' where it is on none yet. */
  readonly node: string;
  readonly owner: Owner | null;
  readonly createdAt: Instant | null;
  readonly boundAt: Instant | null;
  /** Since when it is ready; null: it is not. */
  readonly readyAt: Instant | null;
  /** The end of its grace period; null: it was not deleted. */
  readonly deletionTimestamp: Instant | null;
  readonly graceMs: Millis | null;
  readonly finalizers: readonly string[];
  /** The condition DisruptionTarget. */
  readonly mark: (DisruptionMark & { readonly message: string }) | null;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * An Event, with the names of its reporter. Any client that may create Events can write one like
 * it.
 */
export interface EventTrace {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** '': it names the object and not which of that name, as those of kube-controller-manager about pods do. */
  readonly uid: string;
  readonly reason: string;
  readonly message: string;
  readonly by: string;
  /** The node that it comes from; '': none. */
  readonly host: string;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly count: number;
}

/** A node as it is now. */
export interface NodeTrace {
  readonly name: string;
  readonly taints: readonly Taint[];
  /** Who wrote spec.taints last: all taints are one field, so another of them may be meant. */
  readonly taintsWritten: Write | null;
  /** The program that cordoned it; null: none has, or it is unknown. */
  readonly cordoned: Write | null;
  /** The drains that have left marks on it. */
  readonly drains: readonly { readonly id: string; readonly taint: string; readonly by: string }[];
}

interface Write {
  readonly by: string;
  readonly at: Instant;
}

/** Reads a v1 Pod. */
export function podTrace(object: unknown): PodTrace {
  const pod = asRecord(object);
  const [metadata, spec, status] = [
    asRecord(pod.metadata),
    asRecord(pod.spec),
    asRecord(pod.status),
  ];
  const conditions = asList(status.conditions).map(asRecord);
  const since = (wanted: string): Instant | null => {
    const found = conditions.find(({ type, status: is }) => type === wanted && is === 'True');
    return found ? timeFromJson(found.lastTransitionTime) : null;
  };
  const mark = disruptionOf(pod);
  const said = conditions.find(({ type }) => type === 'DisruptionTarget');
  const grace = asInteger(metadata.deletionGracePeriodSeconds);
  return {
    ...{ namespace: asText(metadata.namespace), name: asText(metadata.name) },
    ...{ uid: asText(metadata.uid), node: asText(spec.nodeName), owner: ownerOf(metadata) },
    createdAt: timeFromJson(metadata.creationTimestamp),
    ...{ boundAt: since('PodScheduled'), readyAt: since('Ready') },
    deletionTimestamp: timeFromJson(metadata.deletionTimestamp),
    graceMs: grace === null || grace > graceMax ? null : grace * 1000,
    finalizers: asList(metadata.finalizers).map(asText),
    mark: mark && { ...mark, message: line(said?.message) },
    ...{
      phase: asText(status.phase),
      reason: asText(status.reason),
      message: line(status.message),
    },
  };
}

/** Seconds. The API server counts in nanoseconds of 64 bits: of more its deletionTimestamp says nothing. */
const graceMax = 9_000_000_000;

function ownerOf({ ownerReferences }: JsonRecord): Owner | null {
  const owner = asList(ownerReferences)
    .map(asRecord)
    .find(({ controller }) => controller === true);
  return owner ? { kind: asText(owner.kind), name: asText(owner.name) } : null;
}

/** Pods and Nodes have no others; of an Event the API server takes any, of several lines too. */
const objectName = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

/**
 * Reads a v1 Event; null: it does not say when, or names no pod that there can be. The reported
 * action has begun when the Event is created.
 */
export function eventTrace(object: unknown): EventTrace | null {
  const event = asRecord(object);
  const metadata = asRecord(event.metadata);
  const createdAt = timeFromJson(metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY;
  const about = asRecord(event.involvedObject);
  const times = [event.firstTimestamp, event.eventTime, event.lastTimestamp];
  const series = asRecord(event.series);
  const known = [...times, series.lastObservedTime].flatMap((time) => timeFromJson(time) ?? []);
  if (known.length === 0) return null;
  const isOfPodOrNode = about.kind === 'Pod' || about.kind === 'Node';
  if (isOfPodOrNode && !objectName.test(asText(about.name))) return null;
  const firstAt = Math.min(...known, createdAt);
  const lastAt = Math.max(firstAt, ...known);
  return {
    namespace: asText(about.namespace) || asText(metadata.namespace),
    ...{ kind: asText(about.kind), name: asText(about.name), uid: asText(about.uid) },
    ...{ reason: asText(event.reason), message: line(event.message) },
    ...{ by: reporterOf(event), host: asText(asRecord(event.source).host) },
    ...{ firstAt, lastAt, count: Math.max(asInteger(event.count) ?? 1, 1) },
  };
}

/** Ours report under names of kube-controller-manager too, and are known by the instance beside it. */
function reporterOf({ source, reportingComponent }: JsonRecord): string {
  const component = asText(asRecord(source).component);
  const reporting = asText(reportingComponent);
  return isOurs(reporting) ? reporting : component || reporting;
}

/** True for the names under which programs of taintmgr report and write. */
export function isOurs(name: string): boolean {
  return /^(kubectl-)?taintmgr($|-)/.test(name);
}

/** Reads a v1 Node. */
export function nodeTrace(object: unknown): NodeTrace {
  const { metadata, spec } = asRecord(object);
  const { taints, unschedulable } = asRecord(spec);
  const { name, annotations } = asRecord(metadata);
  return {
    ...{ name: asText(name), taints: taintsFrom(taints) },
    taintsWritten: lastWriteOf('f:taints', metadata),
    cordoned: unschedulable === true ? lastWriteOf('f:unschedulable', metadata) : null,
    drains: readMarks(asRecord(annotations)).map(({ id, taint, by }) => {
      return { id, taint: formatTaint(taint), by };
    }),
  };
}

/** Longer messages are cut. */
const lineLengthMax = 400;

function line(value: unknown): string {
  const text = onOneLine(asText(value)).trim();
  return text.length <= lineLengthMax ? text : `${text.slice(0, lineLengthMax)}...`;
}
