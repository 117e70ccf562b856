import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import { type Failure, noAnswer } from './answer.ts';
import type { Random } from './backoff.ts';
import { type AnswerCollector, type ExchangeInput, endsExchange } from './exchange.ts';
import type { ItemChange, Project } from './inventory.ts';
import type { Kinds } from './protobuf.ts';
import type { ApiRequest, RequestEffect, Selectors } from './requests.ts';
import { ProtobufWatchDecoder, type WatchDecoder } from './watch-decoder.ts';

/** A request under way and its inputs. */
export interface Stream {
  readonly id: string;
  readonly collector: AnswerCollector;
  readonly openedAt: Instant;
  /** When the last byte came, of a watch the last event; when it was opened before the first. */
  heardAt: Instant;
  /** Null before the head. */
  status: number | null;
  /** True if the answer has ended, so that there is nothing to abort. */
  ended: boolean;
}

/** A list in pages, each a separate request. */
export interface Listing extends Stream {
  readonly kind: 'Listing';
  readonly request: ApiRequest;
  /** Of the page that is asked for; '' of the first. */
  readonly continueToken: string;
}

/** A watch that begins with all existing objects, and has not reached the end of these. */
export interface Loading extends Stream {
  readonly kind: 'Loading';
  decoder: WatchDecoder;
  /** The number that has come. */
  events: number;
}

/** A watch that brings changes. */
export interface Watching extends Stream {
  readonly kind: 'Watching';
  decoder: WatchDecoder;
  /** Of the last event taken in; the next watch starts here. */
  resourceVersion: string;
  /** The time from which inputs count as news. */
  caughtUpAt: Instant;
  /** True if this stream brought us forward. */
  progressed: boolean;
  /** True if anything of it could be read. */
  understood: boolean;
}

/** A state that hears events, one after the other. */
export type Streaming = Loading | Watching;

/** The activity of a reflector. */
export type ReflectorState =
  | { readonly kind: 'Idle' }
  | Open
  | Waiting
  /** Listed once, as asked, without a watch. */
  | { readonly kind: 'Rested' }
  | { readonly kind: 'Stopped' };

/** Something went wrong, and is tried again later. */
interface Waiting {
  readonly kind: 'Waiting';
  readonly until: Instant;
  readonly next: Next;
  /** True if the server was away, as far as this one can tell. */
  readonly isAway: boolean;
}

/** A state with a request under way. */
export type Open = Listing | Loading | Watching;

/** The activity that comes after a wait. */
export type Next =
  | { readonly kind: 'list' }
  | { readonly kind: 'watch'; readonly resourceVersion: string };

export const relist: Next = { kind: 'list' };

/** The answers by which a server says that it cannot stream lists. */
export const unableStatuses: readonly number[] = [400, 422];
/** The answers by which one says that it has not the format that is asked for. */
export const formatStatuses: readonly number[] = [406, 415];
/** Refusals of a watch that no later attempt at the same resourceVersion would mend. */
export const relistStatuses: readonly number[] = [400, 404, 410, 422];

/** An answer must begin, and a list go on, within this time. */
const answerMsMax: Millis = 30_000;
/** Bookmarks come about every 60 s. */
const bookmarkMsMax: Millis = 90_000;
/** A single sign of life may be missing. */
const quietMsMax: Millis = 150_000;

/** Within this time a watch that began, or was quiet, may send missed events. */
const catchUpMs: Millis = 1000;
const quietMs: Millis = 5000;
/** A watch that ends sooner, with nothing in it, is not opened again at once. */
const watchMsMin: Millis = 1000;

/** Within this time all ask again when the server is back. */
export const returnMsMax: Millis = 2000;

const streamSecondsMin = 300;
/** The server ends a stream before: a list that continues, or a page of one, has no end. */
const listMsMax: Millis = (2 * streamSecondsMin + 60) * 1000;

/**
 * The time after which the server has to end a stream: 5 to 10 minutes, so that not all are opened
 * at once.
 */
export function streamSeconds(random: Random): number {
  return streamSecondsMin + Math.floor(random() * streamSecondsMin);
}

/** Tells whether a request is under way in this state. */
export function isOpen(state: ReflectorState): state is Open {
  return state.kind === 'Listing' || state.kind === 'Loading' || state.kind === 'Watching';
}

/** Tells whether pages may bring what the stream of a list does not. */
export function mayPage({ kind }: ReflectorState, { status, retryAfter }: Failure): boolean {
  return kind === 'Loading' && status !== 410 && retryAfter === null;
}

/** Tells whether events arrive in this state. */
export function isStreaming(state: ReflectorState): state is Streaming {
  return state.kind === 'Loading' || state.kind === 'Watching';
}

/** A stream from which changes after this resourceVersion are expected. */
export function watchingFrom(
  stream: Stream,
  decoder: WatchDecoder,
  resourceVersion: string,
): Watching {
  const { openedAt: caughtUpAt } = stream;
  const nothingYet = { progressed: false, understood: false };
  return { ...stream, kind: 'Watching', decoder, resourceVersion, caughtUpAt, ...nothingYet };
}

/** The time at which a silent answer is given up, or a list that takes too long. */
export function overdueAt(state: Open): Instant {
  if (state.kind !== 'Watching') {
    return Math.min(state.heardAt + answerMsMax, state.openedAt + listMsMax);
  }
  return state.heardAt + (state.status === null ? answerMsMax : quietMsMax);
}

/** The reason why it is given up then. */
export function overdue(now: Instant, { heardAt, openedAt }: Open): Failure {
  const [quiet, open] = [now - heardAt, now - openedAt];
  return noAnswer(
    quiet >= answerMsMax
      ? `nothing heard for ${formatDuration(quiet)}`
      : `the list did not come to its end within ${formatDuration(open)}`,
  );
}

/** When a tick would do something; null: only the server can. */
export function wakeOf(state: ReflectorState): Instant | null {
  if (state.kind === 'Waiting') return state.until;
  return isOpen(state) ? overdueAt(state) : null;
}

/** The time from which inputs have no longer waited, of a stream that is alive now. */
export function caughtUpAt(now: Instant): Instant {
  return now + catchUpMs;
}

/** Takes down that something came, and how far the answer is. Of a watch only events are something. */
export function noteHeard(now: Instant, state: Open, input: ExchangeInput): void {
  if (state.kind !== 'Watching' || input.kind === 'head') state.heardAt = now;
  state.ended = endsExchange(input);
  if (input.kind === 'head' || input.kind === 'answer') state.status = input.status;
}

/** Takes down that an event came. */
export function noteEvent(now: Instant, watching: Watching): void {
  // The stream, or this process, may have stood still: the next inputs may have waited.
  if (now - watching.heardAt >= quietMs) watching.caughtUpAt = caughtUpAt(now);
  watching.heardAt = now;
  watching.understood = true;
}

/** Tells whether a watch that has ended may be opened again at once. */
export function hasLived(now: Instant, { progressed, openedAt }: Watching): boolean {
  return progressed || now - openedAt >= watchMsMin;
}

/** Tells whether it is the request that is under way in this state. */
export function isOf(state: ReflectorState, id: string): boolean {
  return isOpen(state) && state.id === id;
}

/** Where to go on after a failure of the connection. */
export function nextAfter(state: Open): Next {
  if (state.kind !== 'Watching') return relist;
  return { kind: 'watch', resourceVersion: state.resourceVersion };
}

/** A fault that comes back at the same place, before anything else, is left by listing again. */
export function nextAfterFault(state: Open): Next {
  return state.kind === 'Watching' && state.progressed ? nextAfter(state) : relist;
}

/**
 * Tells whether all that had happened at that instant has come, as the connection has brought all that was
 * sent by then. A stream that has left out a bookmark may be held up by the server itself.
 */
export function isComplete(now: Instant, state: Open, at: Instant): boolean {
  if (state.kind !== 'Watching' || !isGood(state)) return false;
  return at >= state.caughtUpAt && now - state.heardAt <= bookmarkMsMax;
}

/** Tells whether an answer has begun that is no failure. */
export function isGood({ status }: Stream): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Tells whether what cannot be read may be another protobuf than ours; later it is a fault on the way. */
export function isForeign(state: Streaming): boolean {
  const isNew = state.kind === 'Loading' || !state.understood;
  return isNew && state.decoder instanceof ProtobufWatchDecoder;
}

export type ReflectorInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /**
   * The API server answers again, after it was away: a waiting reflector need not wait its time
   * out.
   */
  | { readonly kind: 'returned' }
  | ExchangeInput;

export type ReflectorEffect<T> =
  | RequestEffect
  | ItemChange<T>
  /** The first list is complete. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'notice'; readonly notice: ReflectorNotice };

/** The collection to follow, and the way to. */
export interface ReflectorOptions<T> extends MissingRules {
  /** Names the collection in notices, e.g. `pods`. */
  readonly resource: string;
  /** Begins the ids of its requests; the resource when left out. */
  readonly id?: string;
  readonly path: string;
  readonly selectors: Selectors;
  readonly project: Project<T>;
  /** False: list once and rest. */
  readonly watch: boolean;
  /** True if the server is asked for lists as the beginning of a watch; default false: in pages. */
  readonly streamLists?: boolean;
  /**
   * True if objects of a first list are reported as they come, since there may be a million;
   * default false: when it is complete.
   */
  readonly reportsEarly?: boolean;
  /** More objects than these are no collection of a cluster; left out: 2,000,000. */
  readonly objectsMax?: number;
  /** True if the server is asked for streams in protobuf where it has it; default false: in JSON. */
  readonly protobuf?: boolean;
  /** The fields of each kind that are read in protobuf; left out: what `convert.ts` looks at. */
  readonly kinds?: Kinds;
  readonly random: Random;
}

/**
 * The reports of a reflector to people: connections lost and found, lists, errors. `nodeName` is the
 * node whose pods it reads, where they are read by node.
 */
export type ReflectorNotice =
  | {
      readonly kind: 'listed';
      readonly resource: string;
      readonly nodeName?: string;
      readonly objects: number;
      readonly upserts: number;
      readonly deletes: number;
    }
  | {
      readonly kind: 'watching';
      readonly resource: string;
      readonly nodeName?: string;
      readonly resourceVersion: string;
    }
  /** The server does not stream lists: this one is read in pages from now on, as good as before. */
  | { readonly kind: 'pagedLists'; readonly resource: string; readonly nodeName?: string }
  /** Streams in protobuf are refused or cannot be read: this one is in JSON from now on. */
  | { readonly kind: 'jsonOnly'; readonly resource: string; readonly nodeName?: string }
  /** The server does not serve the collection, or not us, which may be so: it has no objects. */
  | {
      readonly kind: 'absent';
      readonly resource: string;
      readonly nodeName?: string;
      readonly failure: Failure;
    }
  /** A request failed; after `wait` the reflector watches on or lists again. */
  | {
      readonly kind: 'reconnecting';
      readonly resource: string;
      readonly nodeName?: string;
      readonly failure: Failure;
      readonly wait: Millis;
      readonly next: 'list' | 'watch';
    };

/**
 * The report of a list that was read: the number of objects, and of differences, or of those
 * reported early.
 */
export function listed(
  resource: string,
  objects: number,
  changes: readonly { readonly kind: string }[] | number,
): ReflectorNotice {
  if (typeof changes === 'number') {
    return { kind: 'listed', resource, objects, upserts: changes, deletes: 0 };
  }
  const deletes = changes.filter(({ kind }) => kind === 'delete').length;
  return { kind: 'listed', resource, objects, upserts: changes.length - deletes, deletes };
}

/** Tells whether a collection may be refused so, and nothing waits for it. */
export function mayMiss(
  { mayBeAbsent = false, mayBeForbidden = false }: MissingRules,
  status: number,
): boolean {
  return (status === 404 && mayBeAbsent) || (status === 403 && mayBeForbidden);
}

/** The collections that nothing waits for. */
interface MissingRules {
  /** A collection that is not served (404) has no objects; default false: it is a failure. */
  readonly mayBeAbsent?: boolean;
  /** The same of one that we may not read (403). */
  readonly mayBeForbidden?: boolean;
}

/** Knows whether a collection counts as one without objects because the server does not serve it (404). */
export class Absence {
  /** Such a collection is asked for again after this time. */
  static readonly waitMs: Millis = 30_000;
  #isCertain = false;
  /** Since when it was not served, though objects of it are known; null: it is, or none are. */
  #since: Instant | null = null;

  get isCertain(): boolean {
    return this.#isCertain;
  }

  /**
   * The collection was not served. Where objects of it are known it counts as absent only after a
   * while, since a server that starts may answer 404 too.
   */
  missed(now: Instant, objects: number): boolean {
    this.#since ??= now;
    return objects === 0 || now - this.#since >= Absence.waitMs;
  }

  /** The collection is served again, or this is unknown. */
  end(): void {
    this.#isCertain = false;
  }

  /** The collection was read, or counts as absent. */
  read(isAbsent: boolean): void {
    this.#isCertain = isAbsent;
    if (!isAbsent) this.#since = null;
  }
}

/** The notice that a collection counts as one without objects, and why. */
export function absence(resource: string, failure: Failure): ReflectorNotice {
  return { kind: 'absent', resource, failure };
}
