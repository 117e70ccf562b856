import type { Instant } from '@taintmgr/core/time';
import {
  answerFault,
  type Failure,
  failureOf,
  failureOfStatus,
  isTooLong,
  noAnswer,
  statedFailure,
  statedStatus,
  succeeded,
} from './answer.ts';
import { Trouble } from './backoff.ts';
import { AnswerCollector, type ExchangeInput, partsOf, type StreamInput } from './exchange.ts';
import { Inventory } from './inventory.ts';
import { asList, asRecord, asText, parseJson } from './json.ts';
import { objectsMaxDefault, PageWalk, tooMany } from './page-walk.ts';
import { preferProtobuf } from './protobuf.ts';
import {
  Absence,
  absence,
  caughtUpAt,
  formatStatuses,
  hasLived,
  isComplete,
  isForeign,
  isGood,
  isOf,
  isOpen,
  isStreaming,
  type Listing,
  type Loading,
  listed,
  mayMiss,
  mayPage,
  type Next,
  nextAfter,
  nextAfterFault,
  noteEvent,
  noteHeard,
  type Open,
  overdue,
  overdueAt,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorNotice,
  type ReflectorOptions,
  type ReflectorState,
  relist,
  relistStatuses,
  returnMsMax,
  type Stream,
  type Streaming,
  streamSeconds,
  unableStatuses,
  type Watching,
  wakeOf,
  watchingFrom,
} from './reflector-state.ts';
import { type ApiRequest, listRequest, listStreamRequest, watchRequest } from './requests.ts';
import {
  type CollectionEvent,
  isOlder,
  JsonWatchDecoder,
  type WatchEvent,
  watchDecoderFor,
  watchEventIn,
} from './watch-decoder.ts';

export type { ReflectorEffect, ReflectorInput, ReflectorNotice, ReflectorOptions };

const none: readonly never[] = [];

/**
 * Follows one collection: a list, then watches from its resourceVersion on, each from where the one
 * before got to. Its output is a chain of differences without a gap, regardless of how often the
 * connection breaks; when the server no longer knows the resourceVersion it lists again and gives
 * the difference. The reflector never gives up: every failure is reported and tried again after a
 * wait.
 *
 * A list is the beginning of the watch that follows it (WatchList), which spares the server to hold
 * it whole. Where the server does not do that it comes in pages; and once in pages after it broke
 * off, in case that is something streams meet on their way and pages do not.
 */
export class Reflector<T> {
  #state: ReflectorState = { kind: 'Idle' };
  #effects: ReflectorEffect<T>[] = [];
  #synced = false;
  readonly #freshness = new Freshness();
  readonly #trouble: Trouble;
  readonly #absence = new Absence();
  readonly #asking: Asking;
  readonly #options: ReflectorOptions<T>;
  readonly #inventory: Inventory<T>;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#asking = new Asking(options);
    this.#inventory = new Inventory(options.project);
    this.#trouble = new Trouble(options.random);
  }

  get resource(): string {
    return this.#options.resource;
  }

  /** As of when the picture is known to be complete; null: not yet. */
  get heardAt(): Instant | null {
    return this.#freshness.heardAt;
  }

  /** When the list or its stream last said anything; null: it is not read yet. */
  get aliveAt(): Instant | null {
    return this.#freshness.aliveAt;
  }

  /** The number of objects known. */
  get size(): number {
    return this.#inventory.size;
  }

  /** The uids of all known objects: reported, and not reported as deleted. */
  uids(): Iterable<string> {
    return this.#inventory.uids();
  }

  get state(): ReflectorState['kind'] {
    return this.#state.kind;
  }

  /** True if changes arrive: a watch that is opened after a failure may fail too. */
  get hears(): boolean {
    const state = this.#state;
    const isWatched = state.kind === 'Watching' && (state.status !== null || !this.#trouble.isOn);
    return isWatched || this.#absence.isCertain;
  }

  /** When a tick would do something; null: only the server can. */
  nextWake(): Instant | null {
    return wakeOf(this.#state);
  }

  /** Takes one input. Inputs of a request that is not the current one are ignored. */
  handle(now: Instant, input: ReflectorInput): readonly ReflectorEffect<T>[] {
    // Most inputs are of other collections.
    if ('id' in input && !isOf(this.#state, input.id)) return none;
    if (input.kind !== 'answer' || this.#state.kind === 'Listing') this.#take(now, input);
    else for (const part of partsOf(input)) this.#take(now, part);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #take(now: Instant, input: ReflectorInput): void {
    this.#state = this.#next(now, this.#state, input);
  }

  #next(now: Instant, state: ReflectorState, input: ReflectorInput): ReflectorState {
    switch (input.kind) {
      case 'start':
        return state.kind === 'Idle' ? this.#list(now) : state;
      case 'stop':
        this.#abort(state);
        return { kind: 'Stopped' };
      case 'tick':
        return this.#wake(now, state);
      case 'returned':
        return this.#returned(now, state);
      default:
        return isOpen(state) && state.id === input.id ? this.#receive(now, state, input) : state;
    }
  }

  #wake(now: Instant, state: ReflectorState): ReflectorState {
    if (state.kind === 'Waiting' && now >= state.until) {
      return state.next.kind === 'list' ? this.#list(now) : this.#watch(now, state.next);
    }
    if (!isOpen(state) || now < overdueAt(state)) return state;
    return this.#broken(now, state, overdue(now, state), nextAfter(state));
  }

  /** All that wait hear it at once, and do not all ask at once. */
  #returned(now: Instant, state: ReflectorState): ReflectorState {
    const isWaiting = state.kind === 'Waiting';
    if (isWaiting && !state.isAway) return state;
    // A server that has just started may refuse the first things it is asked for.
    this.#trouble.reset();
    if (!isWaiting) return state;
    const soon = now + Math.round(returnMsMax * this.#options.random());
    return { ...state, until: Math.min(state.until, soon) };
  }

  #receive(now: Instant, state: Open, input: ExchangeInput): ReflectorState {
    if (input.kind === 'alive') {
      if (isComplete(now, state, now - input.age)) this.#freshness.hear(now - input.age);
      return state;
    }
    noteHeard(now, state, input);
    if (isGood(state) && state.kind !== 'Listing' && input.kind !== 'answer') {
      return this.#receiveStream(now, state, input);
    }
    const answer = state.collector.take(input);
    if (!answer) return state;
    if (state.kind === 'Listing' && succeeded(answer)) return this.#page(now, state, answer.body);
    if (state.kind === 'Listing' && isTooLong(answer) && this.#asking.halvePages()) {
      this.#abort(state);
      return this.#requestPage(now, state.continueToken);
    }
    return this.#refused(now, state, failureOf(answer));
  }

  #refused(now: Instant, state: Open, failure: Failure): ReflectorState {
    const status = failure.status ?? 0;
    if (mayMiss(this.#options, status) && state.kind !== 'Watching') {
      if (this.#absence.missed(now, this.size)) return this.#leaveAbsent(now, state, failure);
    }
    if (this.#asking.protobuf && isStreaming(state) && formatStatuses.includes(status)) {
      this.#speakJson();
      return state.kind === 'Loading' ? this.#list(now) : this.#watch(now, state);
    }
    if (state.kind === 'Loading' && unableStatuses.includes(status)) {
      this.#asking.lists = 'paged';
      this.#notice({ kind: 'pagedLists', resource: this.resource });
      return this.#list(now);
    }
    const next = relistStatuses.includes(status) ? relist : nextAfter(state);
    return this.#recover(now, state, failure, next);
  }

  /** A collection that is not served has no objects; it may be served later. */
  #leaveAbsent(now: Instant, state: Open, failure: Failure): ReflectorState {
    this.#abort(state);
    this.#inventory.beginList();
    this.#swap(failure);
    return { kind: 'Waiting', until: now + Absence.waitMs, next: relist, isAway: false };
  }

  // Listing

  #list(now: Instant): ReflectorState {
    this.#freshness.ask(now);
    this.#inventory.beginList(this.#options.reportsEarly);
    if (this.#asking.lists !== 'streamed') return this.#requestPage(now, '');
    const stream = this.#begin(this.#asking.load(now));
    return { kind: 'Loading', decoder: new JsonWatchDecoder(), events: 0, ...stream };
  }

  #requestPage(now: Instant, continueToken: string): ReflectorState {
    const asked = this.#asking.page(now, continueToken);
    return { ...this.#begin(asked), kind: 'Listing', request: asked.request, continueToken };
  }

  #page(now: Instant, listing: Listing, body: string): ReflectorState {
    const page = listPage(listing.request, body);
    if ('reason' in page) return this.#refused(now, listing, page);
    const changes = this.#inventory.addPage(page.items);
    if (!changes) return this.#refused(now, listing, noAnswer('an object of the list has no uid'));
    for (const change of changes) this.#effects.push(change);
    const { continueToken, resourceVersion } = page;
    const why = this.#asking.faultOfNext(continueToken, page.items.length);
    if (why !== null) return this.#refused(now, listing, noAnswer(why));
    if (continueToken !== '') return this.#requestPage(now, continueToken);
    this.#swap();
    return this.#options.watch ? this.#watch(now, { resourceVersion }) : { kind: 'Rested' };
  }

  /** Takes the list for all there is. */
  #swap(absent: Failure | null = null): void {
    this.#freshness.read();
    this.#trouble.end();
    if (this.#asking.lists === 'pagedOnce') this.#asking.lists = 'streamed';
    const { reportsEarly } = this.#inventory;
    const changes = this.#inventory.endList();
    for (const change of changes) this.#effects.push(change);
    const { size } = this.#inventory;
    if (!absent) this.#notice(listed(this.resource, size, reportsEarly ? size : changes));
    else if (!this.#absence.isCertain) this.#notice(absence(this.resource, absent));
    this.#absence.read(absent !== null);
    if (this.#synced) return;
    this.#synced = true;
    this.#effects.push({ kind: 'synced' });
  }

  // Watching

  #watch(now: Instant, { resourceVersion }: { resourceVersion: string }): ReflectorState {
    const stream = this.#begin(this.#asking.watch(now, resourceVersion));
    return watchingFrom(stream, new JsonWatchDecoder(), resourceVersion);
  }

  #receiveStream(now: Instant, state: Streaming, input: StreamInput): ReflectorState {
    switch (input.kind) {
      case 'head':
        state.decoder = watchDecoderFor(input.headers, this.#options.kinds);
        return state.kind === 'Watching' ? this.#watching(now, state) : state;
      case 'chunk':
        return this.#receiveEvents(now, state, state.decoder.push(input.data));
      case 'value':
        return this.#event(now, state, watchEventIn(input.value));
      case 'end':
        return this.#streamEnded(now, state);
      case 'failed':
        return this.#broken(now, state, noAnswer(input.message), nextAfter(state));
    }
  }

  #watching(now: Instant, state: Watching): Watching {
    state.caughtUpAt = caughtUpAt(now);
    this.#trouble.end();
    const { resourceVersion } = state;
    this.#notice({ kind: 'watching', resource: this.resource, resourceVersion });
    return state;
  }

  #receiveEvents(now: Instant, state: Streaming, events: readonly WatchEvent[]): ReflectorState {
    let current = state;
    for (const event of events) {
      const next = this.#event(now, current, event);
      // Another stream, or none: the rest of this one is not heard.
      if (!isStreaming(next) || next.id !== state.id) return next;
      current = next;
    }
    return current;
  }

  #event(now: Instant, state: Streaming, event: WatchEvent): ReflectorState {
    if (event.kind === 'junk' && isForeign(state)) this.#speakJson();
    if (event.kind === 'junk') return this.#garbled(now, state, event.what);
    if (event.kind === 'error') {
      if (mayPage(state, event.failure)) return this.#listInPages(now, state, event.failure);
      const next = event.failure.status === 410 ? relist : nextAfterFault(state);
      return this.#broken(now, state, event.failure, next);
    }
    const why = this.#asking.faultOf(state.kind === 'Loading' ? ++state.events : this.size);
    if (why !== null) return this.#broken(now, state, noAnswer(why), relist);
    return state.kind === 'Loading'
      ? this.#loaded(now, state, event)
      : this.#watched(now, state, event);
  }

  /** The objects are not reported before the list is complete, unless reported early. */
  #loaded(now: Instant, state: Loading, event: CollectionEvent): Streaming {
    if (event.kind !== 'bookmark') {
      this.#effects.push(...this.#inventory.takeListed(event));
      return state;
    }
    if (!event.endsList) return state;
    this.#swap();
    return this.#watching(now, watchingFrom(state, state.decoder, event.resourceVersion));
  }

  #watched(now: Instant, watching: Watching, event: CollectionEvent): Watching {
    this.#freshness.live(now);
    noteEvent(now, watching);
    const { resourceVersion } = event.kind === 'bookmark' ? event : event.identity;
    // Events come in the order of their resourceVersions: an older one has been reported already.
    if (isOlder(resourceVersion, watching.resourceVersion)) return watching;
    const isForward = resourceVersion !== watching.resourceVersion;
    if (event.kind !== 'bookmark') {
      if (!isForward) return watching;
      this.#effects.push(...this.#inventory.take(event));
    }
    watching.resourceVersion = resourceVersion;
    watching.progressed ||= isForward;
    if (now >= watching.caughtUpAt) this.#freshness.hear(now);
    return watching;
  }

  #streamEnded(now: Instant, state: Loading | Watching): ReflectorState {
    if (state.decoder.unfinished) return this.#garbled(now, state, 'half an event');
    if (state.kind === 'Loading') {
      return this.#broken(now, state, noAnswer('the list ended early'), relist);
    }
    if (hasLived(now, state)) return this.#watch(now, state);
    return this.#recover(now, state, noAnswer('the watch ended at once'), nextAfter(state));
  }

  #garbled(now: Instant, state: Streaming, what: string): ReflectorState {
    return this.#broken(now, state, noAnswer(`the watch sent ${what}`), nextAfterFault(state));
  }

  /** A list that broke off, and one without an end from a server that never heard of such lists. */
  #broken(now: Instant, state: Open, failure: Failure, next: Next): ReflectorState {
    if (state.kind === 'Loading' && isGood(state)) this.#asking.lists = 'pagedOnce';
    return this.#recover(now, state, failure, next);
  }

  /** A server that begins such a list and refuses to go on, as with an etcd that is too old, has pages. */
  #listInPages(now: Instant, state: Open, failure: Failure): ReflectorState {
    this.#abort(state);
    this.#asking.lists = 'pagedOnce';
    this.#trouble.begin();
    this.#notice({ kind: 'reconnecting', resource: this.resource, failure, wait: 0, next: 'list' });
    return this.#list(now);
  }

  /** The server, or something on the way to it, has no protobuf, or one that we do not read. */
  #speakJson(): void {
    this.#asking.protobuf = false;
    this.#notice({ kind: 'jsonOnly', resource: this.resource });
  }

  #begin({ stream, request }: Asked): Stream {
    this.#effects.push({ kind: 'send', id: stream.id, request });
    return stream;
  }

  #recover(now: Instant, state: Open, failure: Failure, next: Next): ReflectorState {
    this.#abort(state);
    const { wait, isAway } = this.#trouble.wait(now, failure);
    this.#absence.end();
    this.#notice({ kind: 'reconnecting', resource: this.resource, failure, wait, next: next.kind });
    return { kind: 'Waiting', until: now + wait, next, isAway };
  }

  #abort(state: ReflectorState): void {
    if (isOpen(state) && !state.ended) this.#effects.push({ kind: 'abort', id: state.id });
  }

  #notice(notice: ReflectorNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }
}

const pageLimitMax = 500;

/** A request, and its inputs. */
interface Asked {
  readonly request: ApiRequest;
  readonly stream: Stream;
}

type Options = Pick<
  ReflectorOptions<never>,
  | 'id'
  | 'resource'
  | 'path'
  | 'selectors'
  | 'watch'
  | 'random'
  | 'streamLists'
  | 'protobuf'
  | 'objectsMax'
>;

/**
 * Makes the requests of one reflector in the way that its server has turned out to understand. Each
 * has a separate id.
 */
class Asking {
  /** `pagedOnce`: the next list comes in pages, and those after it as streams again. */
  lists: 'streamed' | 'pagedOnce' | 'paged';
  /** True if streams are asked for in protobuf; pages always come in JSON. */
  protobuf: boolean;
  /** Goes down where objects are so large that a page of them is more than we read. */
  #pageLimit = pageLimitMax;
  #walk: PageWalk;
  readonly #objectsMax: number;
  #serial = 0;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.#objectsMax = options.objectsMax ?? objectsMaxDefault;
    this.#walk = new PageWalk(this.#objectsMax);
    this.lists = options.streamLists && options.watch ? 'streamed' : 'paged';
    this.protobuf = options.protobuf ?? false;
  }

  /** Asks for half as many objects in each page from now on; false: they are down to one. */
  halvePages(): boolean {
    if (this.#pageLimit === 1) return false;
    this.#pageLimit = Math.trunc(this.#pageLimit / 2);
    return true;
  }

  /**
   * The reason why no page is asked for after one with this number of objects; null: it may be, or
   * that was the last.
   */
  faultOfNext(continueToken: string, objects: number): string | null {
    if (continueToken === '') return null;
    return this.#walk.next(continueToken, objects, this.#pageLimit);
  }

  /**
   * The reason why a stream that has brought this number of objects is given up; null: it is not.
   */
  faultOf(objects: number): string | null {
    return objects > this.#objectsMax ? tooMany(this.#objectsMax) : null;
  }

  /** One page of a list; '' is the token of the first. */
  page(now: Instant, continueToken: string): Asked {
    const { path, selectors } = this.#options;
    const limit = this.#pageLimit;
    if (continueToken === '') this.#walk = new PageWalk(this.#objectsMax);
    return this.#ask(now, listRequest(path, { ...selectors, limit, continueToken }));
  }

  /** A watch that begins with everything there is. */
  load(now: Instant): Asked {
    const { path, selectors, random } = this.#options;
    return this.#stream(now, listStreamRequest(path, selectors, streamSeconds(random)));
  }

  /** A watch of what came after this resourceVersion. */
  watch(now: Instant, resourceVersion: string): Asked {
    const { path, selectors, random } = this.#options;
    const timeoutSeconds = streamSeconds(random);
    const request = watchRequest(path, { ...selectors, resourceVersion, timeoutSeconds });
    return this.#stream(now, request);
  }

  #stream(now: Instant, request: ApiRequest): Asked {
    return this.#ask(now, this.protobuf ? preferProtobuf(request) : request);
  }

  #ask(now: Instant, request: ApiRequest): Asked {
    this.#serial += 1;
    const id = `${this.#options.id ?? this.#options.resource}/${this.#serial}`;
    const collector = new AnswerCollector();
    const stream = { id, collector, openedAt: now, heardAt: now, status: null, ended: false };
    return { request, stream };
  }
}

/** The time as of which the reading is complete, and the last sign of life of its source. */
class Freshness {
  #heardAt: Instant | null = null;
  #aliveAt: Instant | null = null;
  /** When the list under way was asked for. */
  #askedAt: Instant | null = null;

  /**
   * As of when the picture is known to be complete: when the list was asked for, and then each
   * event, bookmark and sign of life of the connection. An event right after a watch was opened, or
   * after a quiet time, may be old news and does not count. Null: not yet.
   */
  get heardAt(): Instant | null {
    return this.#heardAt;
  }

  /**
   * The time of the last input of the list or its stream, even one that says that nothing has
   * changed; null: it is not read yet. Unlike heardAt it advances where little happens: a bookmark
   * after a long quiet time may have waited, so that it says nothing about now, but that the stream
   * lives.
   */
  get aliveAt(): Instant | null {
    return this.#aliveAt;
  }

  /** A list is asked for: its content will be as of now. */
  ask(now: Instant): void {
    this.#askedAt = now;
  }

  /** The list was read. */
  read(): void {
    this.#heardAt = this.#askedAt;
    this.#aliveAt = this.#askedAt;
  }

  /** The stream said something. */
  live(now: Instant): void {
    this.#aliveAt = now;
  }

  /** Everything up to `instant` was heard of. */
  hear(instant: Instant): void {
    this.#heardAt = Math.max(instant, this.#heardAt ?? instant);
  }
}

interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** '' on the last page. */
  readonly continueToken: string;
}

/** Reads what answers a request for a page. */
export function listPage(request: ApiRequest, body: string): ListPage | Failure {
  const value = parseJson(body);
  const status = statedFailure(value);
  if (status) return failureOfStatus(status, statedStatus(status));
  const why = answerFault(request, value);
  if (why !== null) return noAnswer(why);
  const { items, metadata } = asRecord(value);
  const { resourceVersion, continue: continueToken } = asRecord(metadata);
  return {
    items: asList(items),
    resourceVersion: asText(resourceVersion),
    continueToken: asText(continueToken),
  };
}
