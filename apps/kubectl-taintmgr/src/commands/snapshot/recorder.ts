// Writes down what changes in a cluster after a snapshot, as far as it decides about evictions, and no more than that.
import { createHash } from 'node:crypto';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { WatchedCollection, WatchNotice } from '@taintmgr/k8s-adapter';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { type CollectionKind, collections } from '../../cluster/collections.ts';
import {
  isObject,
  type RecordingEnd,
  type RecordingLine,
  recordingText,
} from '../../cluster/recording.ts';
import { eventShape, keep, keptOf } from '../../cluster/snapshot-shapes.ts';

/** The kinds that are followed. */
const followedKinds: readonly CollectionKind[] = [
  ...(['Node', 'Lease', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'] as const),
  ...(['Pod', 'PodDisruptionBudget'] as const),
];

/** A collection, and the kind of its objects. */
interface Followed extends WatchedCollection {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The collections that are followed, but for kinds that may not be read. */
export function followedCollections(refused: ReadonlySet<string>): readonly Followed[] {
  const read = collections.filter(({ kind, name, path }) => {
    return followedKinds.includes(kind) && name === undefined && !refused.has(path);
  });
  const evictions = { fieldSelector: 'reason=TaintManagerEviction' };
  return [
    ...read.map(({ apiVersion, kind, path }) => ({ resource: path, path, apiVersion, kind })),
    {
      ...{ resource: 'evictions', path: '/api/v1/events', selectors: evictions },
      ...{ apiVersion: 'v1', kind: 'Event' },
    },
  ];
}

/** The largest size of a recording. */
export interface RecorderLimits {
  readonly bytesMax: number;
  readonly linesMax: number;
}

const recorderLimits: RecorderLimits = { bytesMax: 256 * 2 ** 20, linesMax: 1_000_000 };

export interface RecorderOptions {
  readonly collections: readonly Followed[];
  readonly write: (text: string) => void;
  readonly limits?: RecorderLimits;
}

/** A lease is renewed every 10 s; after this time without a renewal the node may have died. */
const quietMs: Millis = 25_000;
/** At the end this time is enough: two renewals are missing. */
const quietAtEndMs: Millis = 20_500;
/** The events during a gap arrive within this time after it. */
const catchUpMs: Millis = 2_000;
/** Shorter gaps hide nothing. */
const gapMsMin: Millis = 1_000;

interface Known {
  /** The digest of the written part. */
  readonly digest: string;
  readonly object: KubeObject;
}

interface Renewal {
  readonly at: Instant;
  readonly object: KubeObject;
  /** True if the renewal is written down: it was the last one for a while. */
  readonly isWritten: boolean;
}

interface Gap {
  readonly from: Instant;
  /** Null: it lasts. */
  readonly until: Instant | null;
}

/** Takes what a WatchLoop tells, and writes lines. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #limits: RecorderLimits;
  readonly #kinds: ReadonlyMap<string, Followed>;
  readonly #known = new Map<string, Known>();
  /** By the uids of leases, the one that was renewed last at the end. */
  readonly #renewals = new Map<string, Renewal>();
  readonly #gaps = new Map<string, Gap>();
  /** The uids of the snapshot that no list has shown yet, by their kinds. */
  readonly #unseen = new Map<string, Set<string>>();
  /** The collections that were read once. */
  readonly #read = new Set<string>();
  #bytes = 0;
  #lines = 0;
  #end: RecordingEnd | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? recorderLimits;
    this.#kinds = new Map(options.collections.map((one) => [one.resource, one] as const));
  }

  /** The reason of the end; null: the recording continues. */
  get end(): RecordingEnd | null {
    return this.#end;
  }

  get lines(): number {
    return this.#lines;
  }

  /** Begins with what the snapshot has. */
  begin(at: Instant, snapshot: readonly object[]): void {
    for (const object of snapshot) {
      if (!isObject(object)) continue;
      const { uid = '' } = object.metadata;
      if (object.kind === 'Lease') this.#renewals.set(uid, { at, object, isWritten: false });
      else {
        this.#known.set(uid, { digest: digestOf(object), object: nameOf(object) });
        const { kind = '' } = object;
        this.#unseen.set(kind, (this.#unseen.get(kind) ?? new Set()).add(uid));
      }
    }
    const kinds = [...new Set(this.#options.collections.map(({ kind }) => kind))];
    this.#write({ at, type: 'BEGIN', kinds });
  }

  hear(at: Instant, notice: WatchNotice): void {
    if (this.#end !== null) return;
    switch (notice.kind) {
      case 'object':
        this.#object(at, notice.resource, notice.object);
        break;
      case 'gone':
        this.#gone(at, notice.resource, notice.uid);
        break;
      case 'lost':
        this.#gaps.set(notice.resource, { from: notice.heardAt, until: null });
        break;
      case 'regained':
        this.#closeGap(at, notice.resource);
        break;
      case 'listed':
        this.#listed(at, notice.resource);
        break;
      default:
    }
  }

  /** Writes the last line. */
  finish(at: Instant, reason: RecordingEnd): void {
    if (this.#end !== null) return;
    this.#writeQuiet(at - quietAtEndMs);
    for (const [resource, { until }] of this.#gaps) {
      if (until === null) this.#closeGap(at, resource);
    }
    if (this.#end === null) this.#close(at, reason);
  }

  #object(at: Instant, resource: string, value: Readonly<Record<string, unknown>>): void {
    const object = this.#shaped(resource, value);
    if (!object) return;
    if (object.kind === 'Lease') {
      this.#lease(at, object);
      return;
    }
    const { uid = '' } = object.metadata;
    this.#unseen.get(object.kind ?? '')?.delete(uid);
    const known = this.#known.get(uid);
    const digest = digestOf(object);
    if (known?.digest === digest) return;
    this.#known.set(uid, { digest, object: nameOf(object) });
    // Events of before are no news.
    if (object.kind === 'Event' && !this.#read.has(resource)) return;
    const type = known ? 'MODIFIED' : 'ADDED';
    this.#write({ at, type, object, ...this.#afterGap(at, resource) });
  }

  #shaped(resource: string, value: Readonly<Record<string, unknown>>): KubeObject | null {
    const followed = this.#kinds.get(resource);
    if (!followed) return null;
    const { apiVersion, kind } = followed;
    const isEvent = kind === 'Event';
    const kept = isEvent ? keep(eventShape, value) : keptOf(kind as CollectionKind, value);
    const object = { apiVersion, kind, ...Object(kept) };
    return isObject(object) ? object : null;
  }

  #gone(at: Instant, resource: string, uid: string): void {
    const known = this.#known.get(uid);
    this.#renewals.delete(uid);
    if (!known || !this.#known.delete(uid) || known.object.kind === 'Event') return;
    this.#write({ at, type: 'DELETED', object: known.object, ...this.#afterGap(at, resource) });
  }

  /** Objects that the snapshot has and the first list has not are gone. */
  #listed(at: Instant, resource: string): void {
    const kind = this.#kinds.get(resource)?.kind ?? '';
    this.#read.add(resource);
    for (const uid of this.#unseen.get(kind) ?? []) this.#gone(at, resource, uid);
    this.#unseen.delete(kind);
  }

  // Leases

  /** Renewals are written down where they end, and where they begin again. */
  #lease(at: Instant, object: KubeObject): void {
    const { uid = '' } = object.metadata;
    const known = this.#renewals.get(uid);
    if (known && known.object.spec.renewTime === object.spec.renewTime) return;
    const isBack = known?.isWritten === true;
    // The last renewed lease stands last.
    this.#renewals.delete(uid);
    this.#renewals.set(uid, { at, object, isWritten: false });
    if (isBack) this.#write({ at, type: 'MODIFIED', object });
    this.#writeQuiet(at - quietMs);
  }

  #writeQuiet(latest: Instant): void {
    for (const [uid, renewal] of this.#renewals) {
      if (renewal.at > latest) break;
      if (renewal.isWritten) continue;
      this.#renewals.set(uid, { ...renewal, isWritten: true });
      this.#write({ at: renewal.at, type: 'MODIFIED', object: renewal.object });
    }
  }

  // Gaps

  #closeGap(at: Instant, resource: string): void {
    const gap = this.#gaps.get(resource);
    const kind = this.#kinds.get(resource)?.kind;
    if (!gap || kind === undefined) return;
    this.#gaps.set(resource, { ...gap, until: at });
    if (at - gap.from >= gapMsMin) this.#write({ at, type: 'GAP', kind, after: gap.from });
  }

  #afterGap(at: Instant, resource: string): { readonly after?: Instant } {
    const gap = this.#gaps.get(resource);
    if (!gap) return {};
    const { from, until } = gap;
    if (until === null || at - until <= catchUpMs) return { after: from };
    this.#gaps.delete(resource);
    return {};
  }

  // Lines

  #write(line: RecordingLine): void {
    if (this.#end !== null) return;
    const text = `${recordingText(line)}\n`;
    const { bytesMax, linesMax } = this.#limits;
    const bytes = this.#bytes + Buffer.byteLength(text);
    if (bytes > bytesMax) this.#close(line.at, 'bytes');
    else if (this.#lines >= linesMax) this.#close(line.at, 'lines');
    else {
      this.#bytes = bytes;
      this.#lines++;
      this.#options.write(text);
    }
  }

  #close(at: Instant, reason: RecordingEnd): void {
    this.#end = reason;
    this.#options.write(`${recordingText({ at, type: 'END', reason })}\n`);
  }
}

function nameOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid } = metadata;
  const named = { name, ...(namespace && { namespace }), ...(uid && { uid }) };
  return { ...(apiVersion && { apiVersion }), ...(kind && { kind }), metadata: named };
}

/**
 * A digest of the fields that have to change for a line: without the times of reports and the
 * number of ready pods of a workload.
 */
function digestOf(object: KubeObject): string {
  const { kind, status } = object;
  const seen = { ...object, status: kind === 'Node' || kind === 'Pod' ? status : wantedIn(object) };
  const text = JSON.stringify(seen, (member, value: unknown) => {
    return member === 'lastHeartbeatTime' ? undefined : value;
  });
  return createHash('sha1').update(text).digest('base64');
}

/** The part of a workload's status that says how many pods it wants, and of which template. */
function wantedIn({ status = {} }: KubeObject): object {
  const { desiredNumberScheduled, numberMisscheduled, updateRevision } = status;
  return { desiredNumberScheduled, numberMisscheduled, updateRevision };
}
