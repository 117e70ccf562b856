import type { Command, Event, LimitCommand, Outcome } from '@taintmgr/core';
import type { LimitRecord, RecordedLimit, ResumeRequest } from '@taintmgr/core/policy';
import { formatTime, parseTime } from '@taintmgr/core/time';
import { failureOf, type Responded, succeeded } from '../../proto/answer.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import { asInteger, asList, asRecord, asText, isRecord, parseJson } from '../../proto/json.ts';
import { type LeaseName, leasePath, leasesPath } from '../../proto/lease-requests.ts';
import { type ApiRequest, getRequest, objectRequest, patchRequest } from '../../proto/requests.ts';
import { call, changed, done, failedBy, failedUnasked, type Steps, type Task } from '../task.ts';

/** On the Lease of limits: their counts, and the tripped limits. Written by the leader. */
const limitsAnnotation = 'taintmgr.dev/limits';
/** On the same: a person wants limits to be opened. Written by people, taken away by the leader. */
const resumeAnnotation = 'taintmgr.dev/resume-limits';

/** The API server takes 256 KiB of both annotations together. */
const lengthMax = 200_000;

/** The reports about the Lease in which limits keep their counts. */
export type LimitRecordNotice =
  /** The record that stands there; the machine hears of it too. */
  | Extract<Event, { kind: 'limitRecord' }>
  /** The record could not be read or written. */
  | {
      readonly kind: 'limitRecordFailed';
      readonly command: LimitCommand;
      readonly lease: string;
      readonly outcome: Exclude<Outcome, { kind: 'done' }>;
    }
  | { readonly kind: 'limitRecordWritten'; readonly command: LimitCommand };

/**
 * The record of limits as annotations of a Lease: a kind that every cluster has, in a namespace
 * where a right to patch it can be given. The Lease has no holder. A write counts only if nothing
 * was written since the last read, so a leader of yesterday undoes nothing, and no request to
 * resume is lost.
 */
export class LimitRecords {
  readonly #lease: LeaseName;
  /** Null: it is not there. */
  #known: { readonly uid: string; readonly resourceVersion: string } | null = null;
  /** The result of the last read. */
  #found: Found = nothing;

  constructor(lease: LeaseName) {
    this.#lease = lease;
  }

  /** A command as requests. */
  task(command: LimitCommand): Task<LimitRecordNotice> {
    return {
      ...{ kind: 'task', id: command.id, deposed: changed },
      steps: command.kind === 'readLimits' ? this.#reading() : this.#writing(command),
      ended: (outcome) => this.#ended(command, outcome),
    };
  }

  /** The Event as it is recorded: about the Lease. */
  event(command: Extract<Command, { kind: 'recordLimitEvent' }>): ClusterEvent {
    const { type, reason, message } = command;
    const { namespace, name } = this.#lease;
    const uid = this.#known?.uid ?? '';
    const subject = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name, uid };
    return { subject, type, reason, message };
  }

  *#reading(): Steps {
    const { answer } = yield* call(getRequest(leasePath(this.#lease)));
    if (succeeded(answer)) {
      this.#know(answer);
      const lease = parseJson(answer.body);
      // To count anew would let pods go that a tripped limit holds.
      if (!isReadable(lease)) return failedUnasked(notReadable);
      this.#found = limitRecordFrom(lease);
      return done;
    }
    const failure = failureOf(answer);
    if (failure.status !== 404) return failedBy(failure);
    this.#known = null;
    this.#found = nothing;
    return done;
  }

  *#writing({ record, resumed }: Extract<LimitCommand, { kind: 'keepLimits' }>): Steps {
    const text = recordText(record);
    if (text.length > lengthMax) {
      const message = `${text.length} characters are too many for an annotation: limit fewer things, or for a shorter window`;
      return failedUnasked(message);
    }
    const annotations = {
      [limitsAnnotation]: text,
      ...(resumed && { [resumeAnnotation]: null }),
    };
    const request = this.#known
      ? metadataRequest(this.#lease, { ...this.#known, annotations })
      : createRequest(this.#lease, { [limitsAnnotation]: text });
    const { answer } = yield* call(request);
    if (succeeded(answer)) {
      this.#know(answer);
      return done;
    }
    const failure = failureOf(answer);
    const { status, message } = failure;
    const isOther = status === 409 || (status === 404 && this.#known !== null);
    return isOther ? changed(message) : failedBy(failure);
  }

  #ended(command: LimitCommand, outcome: Outcome): LimitRecordNotice {
    if (outcome.kind === 'done') {
      return command.kind === 'readLimits'
        ? { kind: 'limitRecord', ...this.#found }
        : { kind: 'limitRecordWritten', command };
    }
    const { namespace, name } = this.#lease;
    return { kind: 'limitRecordFailed', command, lease: `${namespace}/${name}`, outcome };
  }

  #know(answer: Responded): void {
    const { uid, resourceVersion } = asRecord(asRecord(parseJson(answer.body)).metadata);
    this.#known = { uid: asText(uid), resourceVersion: asText(resourceVersion) };
  }
}

const notReadable = `its annotation ${limitsAnnotation} is no record of this version: run the version that wrote it, or remove the annotation to count anew`;

/** True if it has no record of limits, or one of which this version knows the form. */
function isReadable(lease: unknown): boolean {
  const annotations = asRecord(asRecord(asRecord(lease).metadata).annotations);
  const text = asText(annotations[limitsAnnotation]);
  const record = parseJson(text);
  return text === '' || (isRecord(record) && Object.values(record).every(isRecord));
}

interface Found {
  readonly record: LimitRecord | null;
  readonly resume: ResumeRequest | null;
}

const nothing: Found = { record: null, resume: null };

/** Reads a Lease of limits. Leaves out an invalid record, and one of an invalid limit. */
export function limitRecordFrom(lease: unknown): Found {
  const annotations = asRecord(asRecord(asRecord(lease).metadata).annotations);
  const record = parseJson(asText(annotations[limitsAnnotation]));
  const resume = parseJson(asText(annotations[resumeAnnotation]));
  const entries = Object.entries(asRecord(record)).map(
    ([key, value]) => [key, recordedFrom(asRecord(value))] as const,
  );
  return {
    record: isRecord(record) ? Object.fromEntries(entries) : null,
    resume: isRecord(resume)
      ? { limits: asList(resume.limits).map(asText), by: asText(resume.by) }
      : null,
  };
}

function recordedFrom(recorded: ReturnType<typeof asRecord>): RecordedLimit {
  const { evicted, of, sizes, tripped, begun } = recorded;
  const trip = isRecord(tripped) ? tripped : null;
  const uids = asList(begun).map(asText);
  return {
    ...(uids.length > 0 && { begun: uids }),
    evicted: countsFrom(evicted),
    of: asInteger(of),
    ...(Array.isArray(sizes) && { sizes: countsFrom(sizes) }),
    tripped: trip && {
      since: parseTime(asText(trip.since)) ?? 0,
      limit: limits.find((limit) => limit === trip.limit) ?? 'pods',
      count: countFrom(trip.count),
    },
  };
}

/** Numbers by seconds. */
function countsFrom(pairs: unknown): RecordedLimit['evicted'] {
  return asList(pairs).flatMap((pair) => {
    const [at, count] = asList(pair).map(asInteger);
    return at == null || count == null ? [] : [[at * 1000, count] as const];
  });
}

type Trip = NonNullable<RecordedLimit['tripped']>;
const limits: readonly Trip['limit'][] = ['podsPerSecond', 'percent', 'pods', 'record'];

function countFrom(value: unknown): Trip['count'] {
  if (!isRecord(value)) return null;
  const { evicted, unavailable, most, of, windowMs } = value;
  const numbers = [evicted, unavailable, most, of, windowMs].map(asInteger);
  const [a, b, c, d, e] = numbers;
  if (a == null || b == null || c == null || d == null || e == null) return null;
  return { evicted: a, unavailable: b, most: c, of: d, windowMs: e };
}

/** Instants in seconds, rounded up: an eviction must not be taken to be older than it is. */
function recordText(record: LimitRecord): string {
  const entries = Object.entries(record).map(([key, { evicted, of, sizes, tripped, begun }]) => {
    const trip = tripped && { ...tripped, since: formatTime(tripped.since) };
    const counted = {
      evicted: bySeconds(evicted),
      ...(of !== null && { of }),
      ...(sizes && { sizes: bySeconds(sizes) }),
      ...(begun && { begun }),
    };
    return [key, { ...counted, ...(trip && { tripped: trip }) }];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

function bySeconds(counts: RecordedLimit['evicted']): readonly (readonly number[])[] {
  return counts.map(([at, count]) => [Math.ceil(at / 1000), count]);
}

function createRequest({ namespace, name }: LeaseName, annotations: object): ApiRequest {
  return objectRequest('POST', leasesPath(namespace), {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace, annotations },
    spec: {},
  });
}

function metadataRequest(lease: LeaseName, metadata: object): ApiRequest {
  return patchRequest('merge', leasePath(lease), { metadata });
}

/** PATCH that asks the leader to open limits. */
export function resumeLimitsRequest(lease: LeaseName, request: ResumeRequest): ApiRequest {
  const annotations = { [resumeAnnotation]: JSON.stringify(request) };
  return metadataRequest(lease, { annotations });
}
