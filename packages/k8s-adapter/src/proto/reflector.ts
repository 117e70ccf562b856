import { formatDuration, type Instant, type Millis } from '@taintmgr/core';
import { type Failure, failureOf, noAnswer, succeeded } from './answer.ts';
import { Backoff, type Random } from './backoff.ts';
import { AnswerCollector, type ExchangeInput } from './exchange.ts';
import { type Change, Inventory, type Project } from './inventory.ts';
import { asRecord, asText, parseJson } from './json.ts';
import { LineSplitter } from './lines.ts';
import { type ApiRequest, listRequest, type Selectors, watchRequest } from './request.ts';
import { isNewer, readWatchEvent, type WatchEvent } from './watch-event.ts';

/** Which collection to follow, and how. */
export interface ReflectorOptions<T> {
  /** Names the collection in notices and request ids, e.g. `pods`. */
  readonly resource: string;
  readonly path: string;
  readonly selectors: Selectors;
  readonly project: Project<T>;
  /** False: list once and rest. */
  readonly watch: boolean;
  readonly random: Random;
}

export type ReflectorInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  | ExchangeInput;

export type ReflectorEffect<T> =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string }
  | Change<T>
  /** The first list is complete. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'notice'; readonly notice: ReflectorNotice };

export type ReflectorNotice =
  | {
      readonly kind: 'listed';
      readonly resource: string;
      readonly objects: number;
      readonly upserts: number;
      readonly deletes: number;
    }
  | { readonly kind: 'watching'; readonly resource: string; readonly resourceVersion: string }
  /** Something went wrong; after `wait` the reflector watches on or lists anew. */
  | {
      readonly kind: 'reconnecting';
      readonly resource: string;
      readonly failure: Failure;
      readonly wait: Millis;
      readonly next: 'list' | 'watch';
    };

interface Stream {
  readonly id: string;
  readonly collector: AnswerCollector;
  readonly openedAt: Instant;
  /** When the last byte came; when it was opened before the first. */
  heardAt: Instant;
  /** Null before the head. */
  status: number | null;
  /** Whether the answer has come to its end, so that there is nothing to abort. */
  ended: boolean;
}

interface Listing extends Stream {
  readonly kind: 'Listing';
}

interface Watching extends Stream {
  readonly kind: 'Watching';
  readonly lines: LineSplitter;
  /** Of the last event taken in; the next watch starts here. */
  resourceVersion: string;
  /** From when on what comes counts as news. */
  caughtUpAt: Instant;
  /** Whether this stream brought us forward. */
  progressed: boolean;
}

type State =
  | { readonly kind: 'Idle' }
  | Listing
  | Watching
  | { readonly kind: 'Waiting'; readonly until: Instant; readonly next: Next }
  /** Listed once, as asked, without a watch. */
  | { readonly kind: 'Rested' }
  | { readonly kind: 'Stopped' };

type Next =
  | { readonly kind: 'list' }
  | { readonly kind: 'watch'; readonly resourceVersion: string };

const pageLimit = 500;
/** An answer must begin, and a list go on, within this time. */
const answerMsMax: Millis = 30_000;
/** Bookmarks come about every 60 s, and one may be missing. */
const silenceMsMax: Millis = 150_000;
/** What a watch sends in the beginning, or after a silence, may be what was missed before. */
const catchUpMs: Millis = 1000;
const quietMs: Millis = 5000;
/** A watch that ends sooner, with nothing in it, is not opened again at once. */
const watchMsMin: Millis = 1000;
const watchSecondsMin = 300;

const relist: Next = { kind: 'list' };

/** Refusals of a watch that no later attempt at the same resourceVersion would mend. */
const relistStatuses: readonly number[] = [400, 404, 410, 422];

/**
 * Follows one collection: a paged list, then watches from its resourceVersion on, each from where
 * the one before got to. What it tells is a chain of differences without a gap, however often the
 * connection breaks; when the server no longer knows the resourceVersion it lists anew and tells
 * the difference. It never gives up: every failure is told and tried again after a wait.
 *
 * Requests carry an id of their own, so what still comes from an earlier one is not heard.
 */
export class Reflector<T> {
  #state: State = { kind: 'Idle' };
  #effects: ReflectorEffect<T>[] = [];
  #serial = 0;
  #synced = false;
  #heardAt: Instant | null = null;
  /** When the list under way was asked for. */
  #listedAt: Instant | null = null;
  readonly #options: ReflectorOptions<T>;
  readonly #inventory: Inventory<T>;
  readonly #backoff: Backoff;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#inventory = new Inventory(options.project);
    this.#backoff = new Backoff(options.random);
  }

  get resource(): string {
    return this.#options.resource;
  }

  /**
   * As of when the picture is known to be complete: when the list was asked for, and then each
   * event and bookmark. What comes right after a watch was opened, or after a silence, may be old
   * news and does not count. Null: not yet.
   */
  get heardAt(): Instant | null {
    return this.#heardAt;
  }

  get state(): State['kind'] {
    return this.#state.kind;
  }

  /** When a tick would do something; null: only the server can. */
  nextWake(): Instant | null {
    const state = this.#state;
    if (state.kind === 'Waiting') return state.until;
    return isOpen(state) ? silentAt(state) : null;
  }

  /** Takes one input. Those of a request that is not the current one are ignored. */
  handle(now: Instant, input: ReflectorInput): readonly ReflectorEffect<T>[] {
    this.#state = this.#next(now, input);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #next(now: Instant, input: ReflectorInput): State {
    const state = this.#state;
    switch (input.kind) {
      case 'start':
        return state.kind === 'Idle' ? this.#list(now) : state;
      case 'stop':
        this.#abort(state);
        return { kind: 'Stopped' };
      case 'tick':
        return this.#wake(now, state);
      default:
        return isOpen(state) && state.id === input.id ? this.#receive(now, state, input) : state;
    }
  }

  #wake(now: Instant, state: State): State {
    if (state.kind === 'Waiting' && now >= state.until) {
      return state.next.kind === 'list' ? this.#list(now) : this.#watch(now, state.next);
    }
    if (!isOpen(state) || now < silentAt(state)) return state;
    const message = `nothing heard for ${formatDuration(now - state.heardAt)}`;
    return this.#recover(now, state, noAnswer(message), nextAfter(state));
  }

  #receive(now: Instant, state: Listing | Watching, input: ExchangeInput): State {
    const wasSilent = now - state.heardAt >= quietMs;
    state.heardAt = now;
    // The stream, or this process, may have stood still: what comes now may have waited.
    if (wasSilent && state.kind === 'Watching') state.caughtUpAt = now + catchUpMs;
    state.ended = input.kind === 'end' || input.kind === 'failed';
    if (input.kind === 'head') state.status = input.status;
    const good = state.status !== null && state.status >= 200 && state.status < 300;
    if (good && state.kind === 'Watching') return this.#receiveWatch(now, state, input);
    const answer = state.collector.take(input);
    if (!answer) return state;
    if (state.kind === 'Listing' && succeeded(answer)) return this.#page(now, state, answer.body);
    const failure = failureOf(answer);
    const hopeless = relistStatuses.includes(failure.status ?? 0);
    return this.#recover(now, state, failure, hopeless ? relist : nextAfter(state));
  }

  // Listing

  #list(now: Instant): State {
    this.#listedAt = now;
    this.#inventory.beginList();
    return this.#requestPage(now, '');
  }

  #requestPage(now: Instant, continueToken: string): State {
    const { path, selectors } = this.#options;
    const request = listRequest(path, { ...selectors, limit: pageLimit, continueToken });
    return { kind: 'Listing', ...this.#open(now, request) };
  }

  #page(now: Instant, listing: Listing, body: string): State {
    const page = asRecord(parseJson(body));
    const metadata = asRecord(page.metadata);
    const resourceVersion = asText(metadata.resourceVersion);
    // A server written in Go may send null for an empty list.
    const items = page.items ?? [];
    if (resourceVersion === '' || !Array.isArray(items) || !this.#inventory.addPage(items)) {
      const failure = noAnswer('the answer is not a list of API objects');
      return this.#recover(now, listing, failure, relist);
    }
    const continueToken = asText(metadata.continue);
    if (continueToken !== '') return this.#requestPage(now, continueToken);
    this.#swap();
    this.#heardAt = this.#listedAt;
    return this.#options.watch ? this.#watch(now, { resourceVersion }) : { kind: 'Rested' };
  }

  #swap(): void {
    const changes = this.#inventory.endList();
    for (const change of changes) this.#effects.push(change);
    const deletes = changes.filter(({ kind }) => kind === 'delete').length;
    this.#notice({
      kind: 'listed',
      resource: this.resource,
      objects: this.#inventory.size,
      upserts: changes.length - deletes,
      deletes,
    });
    if (this.#synced) return;
    this.#synced = true;
    this.#effects.push({ kind: 'synced' });
  }

  // Watching

  #watch(now: Instant, { resourceVersion }: { resourceVersion: string }): State {
    const { path, selectors, random } = this.#options;
    const timeoutSeconds = watchSecondsMin + Math.floor(random() * watchSecondsMin);
    const request = watchRequest(path, { ...selectors, resourceVersion, timeoutSeconds });
    const stream = this.#open(now, request);
    const lines = new LineSplitter();
    return {
      kind: 'Watching',
      ...stream,
      lines,
      resourceVersion,
      caughtUpAt: now,
      progressed: false,
    };
  }

  #receiveWatch(now: Instant, watching: Watching, input: ExchangeInput): State {
    switch (input.kind) {
      case 'head': {
        const { resourceVersion } = watching;
        watching.caughtUpAt = now + catchUpMs;
        this.#notice({ kind: 'watching', resource: this.resource, resourceVersion });
        return watching;
      }
      case 'chunk':
        return this.#receiveLines(now, watching, input.data);
      case 'end':
        return this.#watchEnded(now, watching);
      case 'failed':
        return this.#recover(now, watching, noAnswer(input.message), nextAfter(watching));
    }
  }

  #receiveLines(now: Instant, watching: Watching, data: Uint8Array | string): State {
    const { lines, tooLong } = watching.lines.push(data);
    for (const line of lines) {
      const next = this.#line(now, watching, line);
      if (next !== watching) return next;
    }
    return tooLong ? this.#garbled(now, watching, 'an endless line') : watching;
  }

  #line(now: Instant, watching: Watching, line: string): State {
    const event = readWatchEvent(line);
    switch (event.kind) {
      case 'junk':
        return this.#garbled(now, watching, 'something that is not a watch event');
      case 'error': {
        const expired = event.failure.status === 410;
        const next = expired ? relist : nextAfterFault(watching);
        return this.#recover(now, watching, event.failure, next);
      }
      case 'bookmark':
        watching.resourceVersion = event.resourceVersion;
        break;
      default:
        // The events of one collection come in the order of its resourceVersions: one that is
        // not newer than the last has been told already.
        if (!isNewer(event.identity.resourceVersion, watching.resourceVersion)) return watching;
        this.#change(event);
        watching.resourceVersion = event.identity.resourceVersion;
    }
    watching.progressed = true;
    if (now >= watching.caughtUpAt) this.#heardAt = now;
    return watching;
  }

  #change(event: Extract<WatchEvent, { kind: 'upsert' | 'delete' }>): void {
    const changes =
      event.kind === 'delete'
        ? this.#inventory.delete(event.identity)
        : this.#inventory.upsert(event.identity, event.object);
    this.#effects.push(...changes);
  }

  #watchEnded(now: Instant, watching: Watching): State {
    if (watching.lines.rest !== '') return this.#garbled(now, watching, 'half a line');
    const lived = watching.progressed || now - watching.openedAt >= watchMsMin;
    if (lived) return this.#watch(now, watching);
    return this.#recover(now, watching, noAnswer('the watch ended at once'), nextAfter(watching));
  }

  #garbled(now: Instant, watching: Watching, what: string): State {
    const failure = noAnswer(`the watch sent ${what}`);
    return this.#recover(now, watching, failure, nextAfterFault(watching));
  }

  // What both share

  #open(now: Instant, request: ApiRequest): Stream {
    this.#serial += 1;
    const id = `${this.resource}/${this.#serial}`;
    this.#effects.push({ kind: 'send', id, request });
    const collector = new AnswerCollector();
    return { id, collector, openedAt: now, heardAt: now, status: null, ended: false };
  }

  #recover(now: Instant, state: Listing | Watching, failure: Failure, next: Next): State {
    this.#abort(state);
    const wait = this.#backoff.next(now, failure.retryAfter ?? 0);
    const { resource } = this;
    this.#notice({ kind: 'reconnecting', resource, failure, wait, next: next.kind });
    return { kind: 'Waiting', until: now + wait, next };
  }

  #abort(state: State): void {
    if (isOpen(state) && !state.ended) this.#effects.push({ kind: 'abort', id: state.id });
  }

  #notice(notice: ReflectorNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }
}

/** Whether a request is under way in this state. */
function isOpen(state: State): state is Listing | Watching {
  return state.kind === 'Listing' || state.kind === 'Watching';
}

function silentAt(state: Listing | Watching): Instant {
  const watched = state.kind === 'Watching' && state.status !== null;
  return state.heardAt + (watched ? silenceMsMax : answerMsMax);
}

/** Where to go on after a failure of the connection. */
function nextAfter(state: Listing | Watching): Next {
  return state.kind === 'Listing'
    ? relist
    : { kind: 'watch', resourceVersion: state.resourceVersion };
}

/** A fault that comes back at the same place, before anything else, is left by listing anew. */
function nextAfterFault(watching: Watching): Next {
  return watching.progressed ? nextAfter(watching) : relist;
}
