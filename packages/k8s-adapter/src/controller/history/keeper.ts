// Keeps departures while we lead: reads the records of leaders before us, and stores new ones.
import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import type { Departure, Gap } from '../../history/departure.ts';
import { HistorySearch } from '../../history/search.ts';
import {
  type Compression,
  segmentNames,
  segmentObject,
  segmentPath,
  segmentsPath,
} from '../../history/segment.ts';
import {
  type Answer,
  answerValue,
  type Failure,
  failureOf,
  succeeded,
} from '../../proto/answer.ts';
import { Calls, type ExchangeInput, type FinishedCall } from '../../proto/exchange.ts';
import type { JsonRecord } from '../../proto/json.ts';
import type { LeaseName } from '../../proto/lease-requests.ts';
import {
  type ApiRequest,
  getRequest,
  objectRequest,
  type RequestEffect,
} from '../../proto/requests.ts';
import type { WallClock } from '../clock/server-clock.ts';
import type { HistoryNotice } from './notice.ts';
import { Ring, type SegmentWrite } from './ring.ts';
import type { KeptWitness } from './witness.ts';

/** Where a leader keeps its memory of departures. */
export interface HistoryOptions {
  /** The lease of the election, or the one that there would be: the ConfigMaps are called after it. */
  readonly lease: LeaseName;
  /** Packs the records that are kept. */
  readonly compression: Compression;
}

export interface KeeperOptions extends HistoryOptions {
  readonly witness: KeptWitness;
  readonly clock: WallClock;
  /** Asked before each request. */
  readonly leads: (now: Instant) => boolean;
}

export type KeeperEffect =
  | RequestEffect
  | { readonly kind: 'notice'; readonly notice: HistoryNotice };

/** All that is known now: blocks of segments, the earliest first, and lines that are in none yet. */
export interface KeptHistory {
  /** Segments of records, compressed. */
  readonly blocks: readonly string[];
  /** Records as JSON. */
  readonly lines: readonly JsonRecord[];
}

type Purpose =
  | { readonly step: 'read'; readonly slot: number }
  | { readonly step: 'write' | 'readAgain'; readonly write: SegmentWrite };

/** From one write to the next. */
const periodMs: Millis = 5_000;
/** From the first news to its write: more may come with it. */
const gatherMs: Millis = 2_000;
/** Without news: until it is written again that nothing is missing. */
const quietMs: Millis = 600_000;
/** Until a refused write is tried again. */
const slowMs: Millis = 60_000;
const callMsMax: Millis = 10_000;
/** Departures that were seen before are complete, or nothing more is said of them. */
const adoptedMsMax: Millis = 900_000;
/** As many as are open at a time: a client that may write the segments can write millions. */
const adoptedMax = 20_000;

/**
 * Theory of operation. A new leader reads each segment, one request after the other, then in them,
 * block by block, the departures of the last minutes that it has to continue. Until then it keeps
 * new ones in memory. Then it adds a gap, from when the leader before it knew that all was written,
 * and continues in the newest segment. News are written after two seconds, at most every five, one
 * request at a time, and the segment as a whole in the place of itself. A conflict is a write of
 * the leader before: it is read, and both are kept.
 *
 * Nothing here holds evictions up. A refused write stays in memory, is reported once, and is tried
 * again after a minute. A replica that loses the lead hangs up and forgets its reading; it
 * continues to record its own observations.
 */
export class HistoryKeeper {
  #effects: KeeperEffect[] = [];
  #serial = 0;
  #phase: 'standby' | 'reading' | 'adopting' | 'keeping' | 'ended' = 'standby';
  #ring: Ring;
  /** The lines kept while the segments cannot be read; null: they can, or no read was tried. */
  #unstored: Ring | null = null;
  /** The blocks that still have to be read, and the results of those before. */
  #adopting: { readonly blocks: readonly string[]; readonly search: HistorySearch } | null = null;
  /** Segments that were read, and that no leader has written so. */
  #notBelieved: string[] = [];
  #due: Instant | null = null;
  #newsAt: Instant | null = null;
  #sentAt: Instant = Number.NEGATIVE_INFINITY;
  #said = '';
  readonly #calls = new Calls<Purpose>(callMsMax);
  readonly #names: readonly LeaseName[];
  readonly #options: KeeperOptions;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#names = segmentNames(options.lease);
    this.#ring = this.#newRing();
  }

  get idle(): boolean {
    return this.#calls.size === 0;
  }

  /** All that is known; null: this replica does not lead, or has not read it yet. */
  get kept(): KeptHistory | null {
    const isRead = this.#phase === 'keeping' || this.#phase === 'ended';
    const ring = isRead ? this.#ring : this.#unstored;
    return ring && { blocks: ring.blocks(), lines: this.#options.witness.unwritten() };
  }

  nextWake(): Instant | null {
    return earliest([this.#calls.nextWake(), this.idle ? this.#nextWork() : null]);
  }

  /** We lead from now on, or not any more. */
  lead(now: Instant, held: boolean): readonly KeeperEffect[] {
    if (this.#phase === 'ended' || held === (this.#phase !== 'standby')) return this.#drain();
    if (held) {
      this.#phase = 'reading';
      this.#due = now;
      return this.tick(now);
    }
    for (const { id } of this.#calls.cancel()) this.#effects.push({ kind: 'abort', id });
    this.#phase = 'standby';
    this.#options.witness.forgetWritten();
    this.#ring = this.#newRing();
    this.#unstored = null;
    this.#adopting = null;
    this.#due = null;
    this.#newsAt = null;
    this.#said = '';
    return this.#drain();
  }

  receive(now: Instant, input: ExchangeInput): readonly KeeperEffect[] {
    const call = this.#calls.take(input);
    if (call) {
      if (input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    return this.#drain();
  }

  tick(now: Instant): readonly KeeperEffect[] {
    for (const call of this.#calls.expire(now)) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    this.#options.witness.sweep(this.#wall(now), this.#phase !== 'standby');
    this.#lookForNews(now);
    const work = this.idle ? this.#nextWork() : null;
    if (work !== null && now >= work) this.#work(now);
    return this.#drain();
  }

  /** The last write, and nothing after it: nothing is missing. A write under way ends before. */
  end(now: Instant): readonly KeeperEffect[] {
    if (this.#phase === 'ended' || !this.idle) return this.#drain();
    const isKept = this.#phase === 'keeping' && this.#said === '';
    this.#phase = 'ended';
    if (!isKept) return this.#drain();
    this.#ring.add(this.#options.witness.take(this.#wall(now), true));
    this.#ring.touch();
    this.#write(now);
    return this.#drain();
  }

  #newRing(): Ring {
    return new Ring(this.#options.compression, this.#options.witness.leader);
  }

  #wall(now: Instant): Instant {
    return this.#options.clock.wall(now);
  }

  /** When there is something to do; null: nothing. */
  #nextWork(): Instant | null {
    if (this.#phase === 'reading' || this.#phase === 'adopting') return this.#due;
    if (this.#phase !== 'keeping' || this.#due === null) return null;
    const isStored = this.#ring.isStored;
    const next = isStored ? earliest([this.#nextNews(), this.#sentAt + quietMs]) : null;
    return Math.max(this.#sentAt + periodMs, this.#due, next ?? this.#sentAt);
  }

  #nextNews(): Instant | null {
    if (this.#newsAt !== null) return this.#newsAt + gatherMs;
    const at = this.#options.witness.nextDue();
    return at === null ? null : at - this.#wall(0);
  }

  /** Notes since when there are some. */
  #lookForNews(now: Instant): void {
    if (this.#phase !== 'keeping' || this.#newsAt !== null) return;
    const at = this.#options.witness.nextDue();
    if (at === null || at > this.#wall(now)) return;
    // News that have waited for their turn are not gathered any longer.
    this.#newsAt = now - this.#sentAt <= periodMs ? now - gatherMs : now;
  }

  #work(now: Instant): void {
    if (this.#phase === 'reading') {
      this.#unstored?.add(this.#options.witness.take(this.#wall(now)));
      this.#read(now, 0);
      return;
    }
    if (this.#phase === 'adopting') {
      this.#adopt(now);
      return;
    }
    this.#newsAt = null;
    this.#ring.add(this.#options.witness.take(this.#wall(now)));
    if (this.#ring.isStored) this.#ring.touch();
    this.#write(now);
  }

  #read(now: Instant, slot: number): void {
    const name = this.#names[slot];
    if (slot === 0) this.#notBelieved = [];
    if (name) this.#send(now, getRequest(segmentPath(name)), { step: 'read', slot });
    else {
      const since = this.#wall(now) - adoptedMsMax;
      this.#adopting = {
        blocks: this.#ring.blocks(since),
        search: new HistorySearch({ since }, adoptedMax),
      };
      this.#phase = 'adopting';
      this.#due = now;
    }
  }

  /** One block at a time: other work has its turn in between. */
  #adopt(now: Instant): void {
    const { blocks, search } = this.#adopting ?? { blocks: [], search: new HistorySearch({}) };
    const [block, ...others] = blocks;
    if (block !== undefined) search.readBlock(block, this.#options.compression);
    this.#adopting = { blocks: others, search };
    if (others.length === 0) this.#begin(now, search.found.departures);
  }

  /** Everything was read. */
  #begin(now: Instant, departures: readonly Departure[]): void {
    const wall = this.#wall(now);
    const { witness } = this.#options;
    this.#adopting = null;
    witness.adopt(wall, departures);
    this.#ring.add([this.#gap(wall)]);
    if (this.#unstored) this.#ring.addAll(this.#unstored);
    this.#unstored = null;
    this.#ring.add(witness.take(wall));
    this.#phase = 'keeping';
    this.#due = now;
    this.#said = '';
    const notBelieved = this.#notBelieved;
    this.#notice({ kind: 'historyKept', departures: departures.length, notBelieved });
    this.#write(now);
  }

  #gap(to: Instant): Gap {
    const from = this.#ring.before?.savedAt;
    const leader = this.#options.witness.leader;
    return { ...(from !== undefined && { from }), to, why: 'leaderChanged', leader };
  }

  #write(now: Instant): void {
    const write = this.#ring.nextWrite(this.#wall(now), this.#phase === 'ended');
    const name = write ? this.#names[write.slot] : undefined;
    if (!write || !name) return;
    const { segment, resourceVersion } = write;
    const object = segmentObject(name, segment, resourceVersion);
    const request =
      resourceVersion === null
        ? objectRequest('POST', segmentsPath(name.namespace), object, 'metadata')
        : objectRequest('PUT', segmentPath(name), object, 'metadata');
    if (!this.#send(now, request, { step: 'write', write })) this.#ring.failed(write);
  }

  /** The only place where a request leaves. */
  #send(now: Instant, request: ApiRequest, purpose: Purpose): boolean {
    if (!this.#options.leads(now)) {
      this.#due = now + periodMs;
      return false;
    }
    this.#serial += 1;
    this.#sentAt = now;
    const id = `history/${this.#serial}`;
    this.#calls.begin(now, id, request, purpose);
    this.#effects.push({ kind: 'send', id, request });
    return true;
  }

  #finished(now: Instant, { purpose, answer }: FinishedCall<Purpose>): void {
    switch (purpose.step) {
      case 'read':
        this.#wasRead(now, purpose.slot, answer);
        return;
      case 'readAgain':
        if (succeeded(answer)) this.#ring.merge(purpose.write, answerValue(answer));
        else this.#refused(now, purpose.write, failureOf(answer));
        return;
      case 'write':
        this.#wasWritten(now, purpose.write, answer);
    }
  }

  #wasRead(now: Instant, slot: number, answer: Answer): void {
    const failure = succeeded(answer) ? null : failureOf(answer);
    if (failure && failure.status !== 404) {
      this.#failed(now, slot, failure);
      // Nothing waits for an unreadable segment: news are kept in memory until it can be read.
      this.#unstored ??= this.#newRing();
      this.#ring = this.#newRing();
      return;
    }
    const object = succeeded(answer) ? answerValue(answer) : null;
    if (!this.#ring.load(this.#wall(now), slot, object)) this.#notBelieved.push(this.#nameOf(slot));
    this.#read(now, slot + 1);
  }

  #wasWritten(now: Instant, write: SegmentWrite, answer: Answer): void {
    if (succeeded(answer)) {
      this.#said = '';
      this.#ring.stored(write, answerValue(answer));
      if (this.#phase === 'ended' && !this.#ring.isStored) this.#write(now);
      return;
    }
    const failure = failureOf(answer);
    const name = this.#names[write.slot];
    if (failure.status === 409 && name && this.#phase !== 'ended') {
      this.#ring.failed(write);
      this.#send(now, getRequest(segmentPath(name)), { step: 'readAgain', write });
    } else this.#refused(now, write, failure);
  }

  #refused(now: Instant, write: SegmentWrite, failure: Failure): void {
    // To make one, too, is answered so where there is no such namespace.
    const isMissing = failure.status === 404 && write.resourceVersion !== null;
    this.#ring.failed(write, isMissing);
    if (!isMissing) this.#failed(now, write.slot, failure);
  }

  #failed(now: Instant, slot: number, failure: Failure): void {
    const isRefused = failure.status === 403;
    const wait = Math.max(failure.retryAfter ?? 0, isRefused ? slowMs : periodMs);
    this.#due = now + wait;
    const said = `${failure.status}`;
    if (said === this.#said) return;
    this.#said = said;
    this.#notice({ kind: 'historyNotKept', object: this.#nameOf(slot), failure });
  }

  #nameOf(slot: number): string {
    const { namespace = '', name = '' } = this.#names[slot] ?? {};
    return `${namespace}/${name}`;
  }

  #notice(notice: HistoryNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }

  #drain(): readonly KeeperEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
