// Asks a cluster who left, when, by whom and why: of a pod, a node, a workload or a namespace.
import { earliest, formatTime, type Instant } from '@taintmgr/core/time';
import type { Gap } from '../history/departure.ts';
import { ClusterReader } from '../survey/reader.ts';
import { type WorkloadKind, workloadPath } from '../survey/workloads.ts';
import { count } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import { ApiError } from '../transport/errors.ts';
import type { DepartureList } from './departure-answers.ts';
import { type Way, withReader } from './explained.ts';
import { departureList } from './history-documents.ts';
import type { Story, ToldDeparture } from './history-model.ts';
import { type HistoryRead, type HistoryScope, nodePath, readHistory } from './history-reading.ts';
import { gapText, mergeStories } from './history-story.ts';
import type { Notes } from './notes.ts';

/** A kind of workload whose pods can be asked about. */
export type OwnerKind = Exclude<WorkloadKind, 'PodDisruptionBudget' | 'Namespace'>;

/** The subject whose history is asked for. */
export type HistorySubject =
  /** All pods of a namespace; null: of all. */
  | { readonly kind: 'namespace'; readonly namespace: string | null }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  /** `namespace`: where those of others may not be read, its pods alone. */
  | { readonly kind: 'node'; readonly name: string; readonly namespace?: string }
  /** Its pods, also those of former ReplicaSets. */
  | {
      readonly kind: 'workload';
      readonly workload: OwnerKind;
      readonly namespace: string;
      readonly name: string;
    };

/** An option that is left out narrows nothing. */
export interface HistoryOptions {
  /** Pods that were asked to leave then or later; left out: all known ones. */
  readonly since?: Instant;
  /** The departures in flight records, beside what leaders keep in the cluster: `FlightDepartures`; left out: none. */
  readonly flights?: readonly ToldDeparture[];
}

/** The pods that left or are leaving, as far as any source says. */
export interface History {
  /** When the cluster was read: milliseconds since 1970, by the clock of this machine. */
  readonly at: Instant;
  /** By when they were asked to leave, the earliest first. */
  readonly stories: readonly Story[];
  /** Times of which no records are kept. */
  readonly gaps: readonly Gap[];
  /** The answer as JSON: what `kubectl taintmgr history -o json` prints. */
  readonly document: DepartureList;
  /** The notes that a reader should know before believing the answer. */
  readonly notes: Notes;
  /** The reads that failed for want of rights, in the API server's words; empty: none failed. */
  readonly refused: readonly string[];
  /** Where it was looked, in words. */
  readonly looked: string;
  /** False: Events may not be read, so without records pods that are gone are unknown. */
  readonly readsEvents: boolean;
  /**
   * The API server's answer that there is no such node or workload (any more); null: there is, the
   * right is missing, or neither is asked about.
   */
  readonly missing: ApiError | null;
}

/**
 * Reads all that a cluster still has about pods that left or are leaving, and merges it: what
 * `kubectl taintmgr history` says. An unreadable source is left out and named in `refused`. Throws
 * ApiError and ConnectionError.
 */
export async function history(
  way: Way,
  subject: HistorySubject,
  options: HistoryOptions = {},
): Promise<History> {
  const readerOf = (client: ConstructorParameters<typeof ClusterReader>[0]) =>
    new ClusterReader(client);
  return await withReader(way, readerOf, async (reader) => {
    const [read, missing] = await Promise.all([
      readHistory(reader, scopeOf(subject, options)),
      missingIn(reader, subject),
    ]);
    return historyOf({ ...withFlights(read, options), missing }, subject, options, reader.refused);
  });
}

/** The record of a leader precedes the flight record of the same pod. */
function withFlights(read: HistoryRead, { flights = [] }: HistoryOptions): HistoryRead {
  const { departures } = read.sources;
  const kept = new Set(departures.map(({ uid }) => uid));
  const more = flights.filter(({ uid }) => !kept.has(uid));
  return { ...read, sources: { ...read.sources, departures: [...departures, ...more] } };
}

/** The history of a subject does not need the right to read its object: without that nothing is said of it. */
async function missingIn(reader: ClusterReader, subject: HistorySubject): Promise<ApiError | null> {
  if (subject.kind !== 'node' && subject.kind !== 'workload') return null;
  const path =
    subject.kind === 'node'
      ? nodePath(subject.name)
      : workloadPath(subject.workload, subject.namespace, subject.name);
  try {
    await reader.object(path);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.failure.status === 403) return null;
    if (error.failure.status === 404) return error;
    throw error;
  }
}

function scopeOf(subject: HistorySubject, { since }: HistoryOptions): HistoryScope {
  const at = since === undefined ? {} : { since };
  switch (subject.kind) {
    case 'namespace':
    case 'workload':
      return { namespace: subject.namespace, ...at };
    case 'pod':
      return { namespace: subject.namespace, pod: subject.name, ...at };
    case 'node': {
      const { name, namespace } = subject;
      return { namespace: null, node: name, ...(namespace && { fallback: namespace }), ...at };
    }
  }
}

function historyOf(
  read: HistoryRead & Pick<History, 'missing'>,
  subject: HistorySubject,
  { since = Number.NEGATIVE_INFINITY }: HistoryOptions,
  refused: readonly string[],
): History {
  const { sources, records, missing } = read;
  const { at, gaps } = sources;
  const all = mergeStories(sources);
  const isSince = ({ askedAt }: Story): boolean => askedAt === null || askedAt.at >= since;
  const stories = all.filter((story) => isAbout(story, subject) && isSince(story));
  return {
    ...{ at, stories, gaps, refused, missing, looked: lookedText(read) },
    readsEvents: sources.events !== null,
    document: departureList(at, stories, gaps),
    notes: {
      warnings: refused.map((message) => `not everything could be read: ${printable(message)}`),
      notes: [
        ...(missing && stories.length > 0 ? [goneText(subject, missing)] : []),
        ...(records.found === 'forbidden' ? [hiddenRecords(records.namespaces)] : []),
        ...(records.leftOut > 0 ? [`${records.leftOut} earlier records are left out`] : []),
        ...gapsAbout(stories, gaps, subject).map((gap) => `no ${gapText(gap)}`),
        ...(subject.kind === 'node' ? withoutNode(all.filter(isSince), read) : []),
      ],
    },
  };
}

function goneText(subject: HistorySubject, { failure }: ApiError): string {
  const kind = subject.kind === 'workload' ? subject.workload : subject.kind;
  return printable(`the ${kind} is gone: ${failure.message}`);
}

/**
 * Pods of which no source names the node may have left the one that is asked about. Records name it, and of those only
 * the ones of the node are read.
 */
function withoutNode(
  stories: readonly Story[],
  { namespace, records }: HistoryRead,
): readonly string[] {
  if (records.found === 'read') return [];
  const pods = stories.filter(({ node }) => node === '').length;
  if (pods === 0) return [];
  const where = namespace === null ? '-A' : `-n ${namespace}`;
  return [
    `of ${count(pods, 'more pod')} that left, no source names the node: kubectl taintmgr history ${where}`,
  ];
}

/** For a reported pod, the gaps from when something happened to it. */
function gapsAbout(
  stories: readonly Story[],
  gaps: readonly Gap[],
  { kind }: HistorySubject,
): readonly Gap[] {
  if (kind !== 'pod' || stories.length === 0) return gaps;
  const times = stories.flatMap(({ moments }) =>
    moments.flatMap(({ at, until = at }) => [at, until]),
  );
  const first = earliest(times) ?? Number.POSITIVE_INFINITY;
  const last = times.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  return gaps.filter(({ from = Number.NEGATIVE_INFINITY, to }) => from <= last && to >= first);
}

/** The names of ReplicaSets of a Deployment end with a hash. */
const hash = /^-[a-z0-9]{1,10}$/;

function isAbout(story: Story, subject: HistorySubject): boolean {
  switch (subject.kind) {
    case 'namespace':
      return subject.namespace === null || story.namespace === subject.namespace;
    case 'pod':
      return story.namespace === subject.namespace && story.pod === subject.name;
    case 'node':
      return story.node === subject.name;
    case 'workload':
      return story.namespace === subject.namespace && isOfWorkload(story, subject);
  }
}

function isOfWorkload(
  { owner, pod }: Story,
  { workload, name }: Extract<HistorySubject, { kind: 'workload' }>,
): boolean {
  // Who names no owner is known by the name that the owner gave.
  if (owner === null) return isNamedBy(pod, workload, name);
  if (workload !== 'Deployment') return owner.kind === workload && owner.name === name;
  const isChild = owner.name.startsWith(name) && hash.test(owner.name.slice(name.length));
  return owner.kind === 'ReplicaSet' && isChild;
}

const podNames: Readonly<Record<OwnerKind, RegExp>> = {
  Deployment: /^-[a-z0-9]{1,10}-[a-z0-9]{5}$/,
  ...{ StatefulSet: /^-\d+$/, DaemonSet: /^-[a-z0-9]{5}$/ },
  ...{ ReplicaSet: /^-[a-z0-9]{5}$/, Job: /^-(?:\d+-)?[a-z0-9]{5}$/ },
};

function isNamedBy(pod: string, workload: OwnerKind, name: string): boolean {
  return pod.startsWith(name) && podNames[workload].test(pod.slice(name.length));
}

function hiddenRecords(namespaces: readonly string[]): string {
  return `records of evictions of taintmgr-controller, in ${namespaces.join(' and ')}, may not be read: Events of the last hour and what is there now have to do`;
}

function lookedText({ sources, records, namespace }: HistoryRead): string {
  const where = namespace === null ? 'of all namespaces' : `of namespace ${namespace}`;
  const kinds = [
    ...(sources.pods === null ? [] : ['pods']),
    ...(sources.events === null ? [] : ['Events']),
  ].join(' and ');
  const kept =
    records.found === 'read'
      ? `records of taintmgr-controller${records.savedAt === null ? '' : ` until ${formatTime(records.savedAt)}`}`
      : `no records of taintmgr-controller (${records.found === 'none' ? `there are none in ${records.namespaces.join(' and ')}` : 'they may not be read'})`;
  return `${kinds === '' ? 'neither pods nor Events' : kinds} ${where}, ${kept}`;
}
