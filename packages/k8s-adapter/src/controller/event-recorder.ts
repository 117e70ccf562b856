import { earlier, type Instant, type Millis } from '@taintmgr/core/time';
import { type Answer, type Failure, failureOf, succeeded } from '../proto/answer.ts';
import { Backoff, type Random } from '../proto/backoff.ts';
import {
  type ClusterEvent,
  countEventRequest,
  namespaceOf,
  postEventRequest,
  serialMax,
} from '../proto/event-requests.ts';
import { Calls, type ExchangeInput, type FinishedCall } from '../proto/exchange.ts';
import type { RequestEffect } from '../proto/requests.ts';
import { ownWallClock, type WallClock } from './clock/server-clock.ts';
import { EventCorrelator, type Series } from './event-correlator.ts';
import { EventTurn } from './event-turn.ts';

interface EventRecorderOptions {
  /** The source of Kubernetes Events that do not name one themselves. */
  readonly component: string;
  readonly random: Random;
  /** The clock that dates Events; left out: `now` as it is. */
  readonly clock?: WallClock;
  /** The traffic that Events about pods yield to; left out: nothing. */
  readonly turn?: EventTurn;
}

export type EventRecorderEffect =
  | RequestEffect
  | { readonly kind: 'notice'; readonly notice: EventRecorderNotice };

export type EventRecorderNotice =
  /** The Event stands in the API, with this count. */
  | { readonly kind: 'eventRecorded'; readonly event: ClusterEvent; readonly count: number }
  | {
      readonly kind: 'eventLost';
      readonly event: ClusterEvent;
      /** The server would not have it; too many came about the same object. */
      readonly why: 'failed' | 'tooMany';
      readonly failure: Failure | null;
    }
  /** The number given up since the last report: too many wait; we stop, and time is up. */
  | { readonly kind: 'eventsDropped'; readonly count: number; readonly why: DropReason };

type DropReason = 'queueFull' | 'stopped';

interface Purpose {
  readonly series: Series;
  readonly count: number;
  readonly sentAt: Instant;
}

/** As few at once, where that is enough; as many, where it takes them to be done in time. */
const inFlightMin = 10;
const inFlightMax = 100;
/** Events that wait after a burst are written within a minute, with some to spare. */
const catchUpMs: Millis = 30_000;
/** An Event takes about 1 kB, and a burst of 20,000 evictions loses none. */
const waitingMax = 25_000;
/** The least time between two reports of how many were dropped. */
const reportDroppedMs: Millis = 10_000;
/** The time a stop may take to write what waits; half of it should do. */
const lastWordsMs: Millis = 8_000;
/** The weight of the newest answer in the time that answers take. */
const newestShare = 0.2;
const failuresMax = 12;

/**
 * Records Kubernetes Events, best effort, with the limits of client-go (event-correlator.ts). While a
 * request waits or is under way, further equal events join it.
 *
 * Events about pods yield to evictions (event-turn.ts) and are written in their order afterwards, as
 * many at once as it takes to be done within half a minute; a stop writes what waits before it is
 * over. Events about anything else are few and wait for nothing.
 *
 * Namespaces take turns. A namespace in which Events fail, as for its admission webhook, gets one
 * Event at a time, less and less often, and keeps no other waiting.
 */
export class EventRecorder {
  #effects: EventRecorderEffect[] = [];
  #serial = 0;
  readonly #calls = new Calls<Purpose>();
  /** About pods. */
  readonly #waiting = new EventLanes<Series>();
  /** About anything else. */
  readonly #urgent = new EventLanes<Series>();
  /** When the server may be asked again, whatever the namespace. */
  #pausedUntil: Instant = Number.NEGATIVE_INFINITY;
  readonly #namespaces: EventNamespaces;
  /** The time at which a stop gives up the waiting Events; null: no stop is under way. */
  #endsAt: Instant | null = null;
  /** Not told yet. */
  #dropped = 0;
  #reportAt: Instant = Number.NEGATIVE_INFINITY;
  /** The time an answer takes, lately; null: none has come. */
  #answerMs: Millis | null = null;
  /** The most that have waited since none did. */
  #waitingPeak = 0;
  readonly #turn: EventTurn;
  readonly #correlator: EventCorrelator;
  readonly #backoff: Backoff;
  readonly #clock: WallClock;

  constructor(options: EventRecorderOptions) {
    const { component, random, clock = ownWallClock, turn = new EventTurn() } = options;
    this.#clock = clock;
    this.#turn = turn;
    // Another process may write of the same object within the same millisecond.
    const first = Math.floor(random() * serialMax);
    this.#correlator = new EventCorrelator(component, () => first + this.#nextSerial());
    this.#backoff = new Backoff(random);
    this.#namespaces = new EventNamespaces(random);
  }

  /** True if nothing is under way, and nothing that was stopped waits. */
  get idle(): boolean {
    return this.#calls.size === 0 && (this.#endsAt === null || this.#waitingCount === 0);
  }

  /** True if nothing is under way, waits or has to be reported. */
  get rests(): boolean {
    return this.#calls.size === 0 && this.#waitingCount === 0 && this.#dropped === 0;
  }

  /** The time of the next tick; null: after an input or a record. */
  nextWake(): Instant | null {
    const own = earlier(this.#calls.nextWake(), this.#resumesAt());
    const reportAt = this.#dropped > 0 ? this.#reportAt : null;
    return earlier(own, earlier(reportAt, this.idle ? null : this.#endsAt));
  }

  /** The time at which one of those that wait is sent; null: after an answer. */
  #resumesAt(): Instant | null {
    const urgent = this.#opensAt(this.#urgent);
    const waiting = this.#opensAt(this.#waiting);
    const turn = this.#endsAt === null ? this.#turn.opensAt : Number.NEGATIVE_INFINITY;
    const at = earlier(urgent, waiting === null ? null : Math.max(waiting, turn));
    return at === null ? null : Math.max(at, this.#pausedUntil);
  }

  /** The time at which one of these namespaces may continue; null: after an answer. */
  #opensAt(lanes: EventLanes<Series>): Instant | null {
    let first: Instant | null = null;
    for (const namespace of lanes.namespaces()) {
      const at = this.#namespaces.opensAt(namespace, this.#calls.size, this.#room());
      first = earlier(first, at);
      if (at === Number.NEGATIVE_INFINITY) break;
    }
    return first;
  }

  get #waitingCount(): number {
    return this.#waiting.length + this.#urgent.length;
  }

  /** Records an event, now or later. */
  record(now: Instant, event: ClusterEvent): readonly EventRecorderEffect[] {
    if (this.#endsAt !== null) return [];
    const series = this.#correlator.count(this.#clock.wall(now), event);
    if (series.state === 'idle') this.#queue(now, series);
    return this.#proceed(now);
  }

  /** Takes an input; those of requests of others are ignored. */
  receive(now: Instant, input: ExchangeInput): readonly EventRecorderEffect[] {
    this.#expire(now);
    const call = this.#calls.take(input);
    if (call) {
      // Such an answer was cut off by us, not ended by the server.
      if (input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    return this.#proceed(now);
  }

  /** Gives up calls whose time is up, and continues after a pause. */
  tick(now: Instant): readonly EventRecorderEffect[] {
    this.#expire(now);
    return this.#proceed(now);
  }

  /** From now on nothing is recorded; what waits is written without delay, as far as time allows. */
  stop(now: Instant): readonly EventRecorderEffect[] {
    this.#endsAt ??= now + lastWordsMs;
    return this.#proceed(now);
  }

  #queue(now: Instant, series: Series): void {
    if (this.#waitingCount >= waitingMax) this.#drop(series);
    else if (!this.#correlator.admits(now, series)) this.#lose(series, 'tooMany', null);
    else {
      series.state = 'waiting';
      this.#lanesOf(series).push(namespaceOf(series.event), series);
      this.#waitingPeak = Math.max(this.#waitingPeak, this.#waitingCount);
    }
  }

  #lanesOf({ event }: Series): EventLanes<Series> {
    return event.subject.kind === 'Pod' ? this.#waiting : this.#urgent;
  }

  #proceed(now: Instant): readonly EventRecorderEffect[] {
    if (this.#endsAt !== null && now >= this.#endsAt) this.#giveUp(now);
    while (now >= this.#pausedUntil) {
      const next = this.#next(now);
      if (!next) break;
      this.#send(now, next);
    }
    if (this.#dropped > 0 && now >= this.#reportAt) this.#reportDropped(now, 'queueFull');
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #next(now: Instant): Series | undefined {
    const [underWay, room] = [this.#calls.size, this.#room()];
    const mayGo = (namespace: string): boolean => {
      const at = this.#namespaces.opensAt(namespace, underWay, room);
      return at !== null && now >= at;
    };
    const urgent = this.#urgent.take(mayGo);
    if (urgent || (this.#endsAt === null && now < this.#turn.opensAt)) return urgent;
    const next = this.#waiting.take(mayGo);
    if (next && this.#endsAt === null) this.#turn.take(now);
    return next;
  }

  /** The number that may be under way: as many as end while all that wait are written in time. */
  #room(): number {
    const withinMs = this.#endsAt === null ? catchUpMs : lastWordsMs / 2;
    const needed = Math.ceil((this.#waitingPeak * (this.#answerMs ?? 0)) / withinMs);
    return Math.max(inFlightMin, Math.min(inFlightMax, needed));
  }

  /** Time is up: a process that is asked to end has to. */
  #giveUp(now: Instant): void {
    this.#dropped += this.#waitingCount;
    this.#waiting.clear();
    this.#urgent.clear();
    this.#namespaces.clear();
    for (const { id } of this.#calls.cancel()) {
      this.#dropped += 1;
      this.#effects.push({ kind: 'abort', id });
    }
    if (this.#dropped > 0) this.#reportDropped(now, 'stopped');
  }

  #drop(series: Series): void {
    series.state = 'idle';
    this.#dropped += 1;
  }

  #reportDropped(now: Instant, why: DropReason): void {
    this.#notice({ kind: 'eventsDropped', count: this.#dropped, why });
    this.#dropped = 0;
    this.#reportAt = now + reportDroppedMs;
  }

  #send(now: Instant, series: Series): void {
    const id = `event/${this.#nextSerial()}`;
    const request = series.written === 0 ? postEventRequest(series) : countEventRequest(series);
    series.state = 'underWay';
    this.#namespaces.begun(namespaceOf(series.event));
    this.#calls.begin(now, id, request, { series, count: series.count, sentAt: now });
    this.#effects.push({ kind: 'send', id, request });
  }

  #expire(now: Instant): void {
    for (const call of this.#calls.expire(now)) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call, true);
    }
  }

  #finished(now: Instant, { purpose, answer }: FinishedCall<Purpose>, isLate = false): void {
    const { series, count, sentAt } = purpose;
    this.#namespaces.ended(namespaceOf(series.event));
    const took = now - sentAt;
    const known = this.#answerMs ?? took;
    this.#answerMs = known + newestShare * (took - known);
    if (this.#waitingCount === 0) this.#waitingPeak = 0;
    const result = writeResult(answer, series.written === 0);
    if (result !== 'later') this.#namespaces.recovered(namespaceOf(series.event));
    switch (result) {
      case 'written':
        series.written = count;
        series.failures = 0;
        this.#notice({ kind: 'eventRecorded', event: series.event, count });
        series.state = 'idle';
        if (series.count > count) this.#queue(now, series);
        break;
      case 'exists':
        series.written = 1;
        this.#again(series);
        break;
      case 'expired':
        series.written = 0;
        this.#again(series);
        break;
      case 'later':
        this.#failed(now, series, failureOf(answer), isLate);
        break;
      case 'refused':
        this.#lose(series, 'failed', failureOf(answer));
    }
  }

  /** Neither this one nor any other of its namespace, or none at all, is tried for a while. */
  #failed(now: Instant, series: Series, failure: Failure, isLate: boolean): void {
    const namespace = namespaceOf(series.event);
    const atLeast = failure.retryAfter ?? 0;
    const isOwn = isLate || isOfNamespace(failure);
    if (isOwn && this.#namespaces.failed(now, namespace, atLeast)) {
      // The others go on.
    } else if (now >= this.#pausedUntil) {
      // The others under way fail for the same reason; one pause is enough for them all.
      this.#pausedUntil = now + this.#backoff.next(now, atLeast);
    }
    series.failures += 1;
    if (series.failures < failuresMax) this.#again(series);
    else this.#lose(series, 'failed', failure);
  }

  #again(series: Series): void {
    series.state = 'waiting';
    this.#lanesOf(series).putBack(namespaceOf(series.event), series);
  }

  #lose(
    series: Series,
    why: Extract<EventRecorderNotice, { kind: 'eventLost' }>['why'],
    failure: Failure | null,
  ): void {
    series.state = 'idle';
    series.failures = 0;
    this.#notice({ kind: 'eventLost', event: series.event, why, failure });
  }

  #nextSerial(): number {
    this.#serial += 1;
    return this.#serial;
  }

  #notice(notice: EventRecorderNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }
}

/**
 * True if others may still be written: an admission webhook is asked about some namespaces, and
 * answers with 500.
 */
function isOfNamespace({ status }: Failure): boolean {
  return status !== null && status >= 500 && status !== 503;
}

/** A token that has run out is renewed, and a server that is overloaded has room again. */
const laterStatuses: readonly number[] = [401, 429];

type WriteResult = 'written' | 'exists' | 'expired' | 'later' | 'refused';

function writeResult(answer: Answer, isNew: boolean): WriteResult {
  if (succeeded(answer)) return 'written';
  const { status } = failureOf(answer);
  // Its name is unique: an earlier attempt succeeded though no answer came.
  if (isNew && status === 409) return 'exists';
  if (!isNew && status === 404) return 'expired';
  const passes = status === null || laterStatuses.includes(status) || status >= 500;
  return passes ? 'later' : 'refused';
}

/** Until when a namespace waits, and how long the next time. */
interface Sickness {
  readonly until: Instant;
  readonly backoff: Backoff;
}

/** Beyond this number of failing namespaces the server itself fails. */
const sickMax = 64;
/** Places beyond the others for namespaces that have nothing under way: who hangs keeps no other from writing. */
const sparePlaces = 10;

/** A namespace in which Events fail is asked with one at a time, less and less often. */
class EventNamespaces {
  readonly #sick = new Map<string, Sickness>();
  readonly #underWay = new Map<string, number>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  begun(namespace: string): void {
    this.#underWay.set(namespace, (this.#underWay.get(namespace) ?? 0) + 1);
  }

  ended(namespace: string): void {
    const count = (this.#underWay.get(namespace) ?? 0) - 1;
    if (count > 0) this.#underWay.set(namespace, count);
    else this.#underWay.delete(namespace);
  }

  /** Nothing is under way any more. */
  clear(): void {
    this.#underWay.clear();
  }

  /**
   * The time at which one more of the namespace may be sent with this number under way; null: after
   * an answer. `room`: how many may be, where none fails.
   */
  opensAt(namespace: string, underWay: number, room: number): Instant | null {
    const sickness = this.#sick.get(namespace);
    const isFirst = !this.#underWay.has(namespace);
    const hasPlace = isFirst ? underWay < room + sparePlaces : !sickness && underWay < room;
    return hasPlace ? (sickness?.until ?? Number.NEGATIVE_INFINITY) : null;
  }

  /** An Event was taken there, or refused for good. */
  recovered(namespace: string): void {
    this.#sick.delete(namespace);
  }

  /** An Event failed there. False: too many namespaces fail for it to be the namespace's fault. */
  failed(now: Instant, namespace: string, atLeast: Millis): boolean {
    const known = this.#sick.get(namespace);
    if (!known && !this.#hasRoom(now)) return false;
    const { until, backoff } = known ?? { until: now, backoff: new Backoff(this.#random) };
    // Others that were under way fail for the same reason; one pause is enough for all of them.
    if (now >= until) {
      this.#sick.set(namespace, { until: now + backoff.next(now, atLeast), backoff });
    }
    return true;
  }

  /** Forgets namespaces whose time is over, and that have nothing under way. */
  #hasRoom(now: Instant): boolean {
    if (this.#sick.size < sickMax) return true;
    for (const [namespace, { until }] of this.#sick) {
      if (now >= until && !this.#underWay.has(namespace)) this.#sick.delete(namespace);
    }
    return this.#sick.size < sickMax;
  }
}

/** A queue in which first come is first served, and some come back to its head. */
export class EventQueue<T> {
  /** Events that came back, the next one last. */
  readonly #returned: T[] = [];
  #items: T[] = [];
  /** The number of items that are gone. */
  #gone = 0;

  get length(): number {
    return this.#returned.length + this.#items.length - this.#gone;
  }

  /** Goes to the end. */
  push(item: T): void {
    this.#items.push(item);
  }

  /** Comes back to the head. */
  putBack(item: T): void {
    this.#returned.push(item);
  }

  /** The next one, which leaves. */
  shift(): T | undefined {
    const returned = this.#returned.pop();
    if (returned !== undefined) return returned;
    const item = this.#items[this.#gone];
    if (item === undefined) return undefined;
    this.#gone += 1;
    // Array.shift would move all that is left, each time.
    if (2 * this.#gone >= this.#items.length) {
      this.#items = this.#items.slice(this.#gone);
      this.#gone = 0;
    }
    return item;
  }

  clear(): void {
    this.#returned.length = 0;
    this.#items = [];
    this.#gone = 0;
  }
}

/** Events that wait, by namespace: each namespace gives one, and is the last then. */
class EventLanes<T> {
  readonly #queues = new Map<string, EventQueue<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  has(namespace: string): boolean {
    return this.#queues.has(namespace);
  }

  namespaces(): Iterable<string> {
    return this.#queues.keys();
  }

  push(namespace: string, item: T): void {
    this.#queueOf(namespace).push(item);
  }

  putBack(namespace: string, item: T): void {
    this.#queueOf(namespace).putBack(item);
  }

  /** The next of the first namespace that may go; undefined: none may. */
  take(mayGo: (namespace: string) => boolean): T | undefined {
    for (const [namespace, queue] of this.#queues) {
      if (!mayGo(namespace)) continue;
      const item = queue.shift();
      this.#length -= 1;
      this.#queues.delete(namespace);
      if (queue.length > 0) this.#queues.set(namespace, queue);
      return item;
    }
    return undefined;
  }

  clear(): void {
    this.#queues.clear();
    this.#length = 0;
  }

  #queueOf(namespace: string): EventQueue<T> {
    const queue = this.#queues.get(namespace) ?? new EventQueue<T>();
    this.#queues.set(namespace, queue);
    this.#length += 1;
    return queue;
  }
}
