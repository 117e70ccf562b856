import type { Instant, Millis } from '@taintmgr/core/time';
import { dateHeader, type ResponseHeaders } from '../../proto/answer.ts';
import type { ExchangeInput } from '../../proto/exchange.ts';
import { type ApiRequest, isProxied } from '../../proto/requests.ts';

/** Of these only what the server answers, and ticks, matter here. */
type Heard = ExchangeInput | { readonly kind: 'tick' | 'start' | 'stop' | 'event' | 'clockStep' };

type Outgoing =
  | { readonly kind: 'send'; readonly id: string; readonly request: Pick<ApiRequest, 'path'> }
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'notice' };

/** The clock that dates all that is written down. */
export type WallClock = Pick<ServerClock, 'wall'>;

/** Heartbeats are dated by it. */
export type BeatClock = Pick<ServerClock, 'wall' | 'latest'>;

/** Where no server is asked: `now` is what clocks show. */
export const ownWallClock: WallClock = { wall: (now) => now };

/** Between what the server's clock is ahead of our time, by the answers of about one second. */
interface Reading {
  readonly since: Instant;
  readonly least: Millis;
  readonly most: Millis;
}

/** An answer counts for this time beside later ones that contradict it. */
const readingMsMax: Millis = 30_000;
const readingsEveryMs: Millis = 1_000;
/**
 * The number of requests that are listened to in any case; beyond it one in this number of
 * milliseconds.
 */
const listenedMin = 8;
const listenEveryMs: Millis = 20;
/** The least difference in the dates of heartbeats that makes them be written at once. */
const redatedMsMin: Millis = 10_000;
/** Clocks drift and answers are dated before they are sent: no reason to say they disagree. */
const slackMs: Millis = 50;

/**
 * Tells the time of the API server by the dates of its answers. Each answer that is listened to bounds it. It is
 * dated in whole seconds, after its request was sent and before we hear of it:
 *
 *     date - heard  <=  ahead of our time  <  date + 1s - sent
 *
 * As long as these bounds let us, we go on believing what we believed, at first our own clock; else
 * we believe what is certain, which later answers make more exact. Answers that contradict each other mean that the server's clock was
 * set, that our machine was suspended, or that several servers have clocks that differ. Then the
 * earliest reading of the last while counts: nothing is done early on the word of one server, and
 * nothing is put off for long.
 */
export class ServerClock {
  #ahead: Millis = 0;
  /** Of the requests whose answers are listened to. */
  readonly #sentAt = new Map<string, Instant>();
  #listenedAt: Instant = Number.NEGATIVE_INFINITY;
  readonly #readings: Reading[] = [];
  /** True if some of them contradict our belief. */
  #isDisputed = false;
  /**
   * The distance between the dates of heartbeats and other times by this clock, as reported last.
   */
  #beatsApart: Millis = 0;

  /** The time by which the server's clock is ahead of ours, negative: behind. */
  get ahead(): Millis {
    return this.#ahead;
  }

  /** The time on the server's clock at `now`. */
  wall(now: Instant): Instant {
    return now + this.#ahead;
  }

  /**
   * The time on it at `now` by its last two answers of different seconds, where these agree; else
   * as `wall`. For times that make no action early: after the server's clock was set forward a
   * heartbeat that is dated by `wall` is too old for it, until the answers before no longer count.
   */
  latest(now: Instant): Instant {
    const before = this.#readings.at(-2);
    const last = this.#readings.at(-1);
    if (!before || !last) return this.wall(now);
    const least = Math.max(before.least, last.least);
    const most = Math.min(before.most, last.most);
    const isAsBelieved = least <= this.#ahead && this.#ahead <= most;
    return least > most || isAsBelieved ? this.wall(now) : now + least + slackMs;
  }

  /**
   * Tells whether heartbeats are dated in another way than before: the server's clock was set. The
   * change is reported once.
   */
  takeRedating(now: Instant): boolean {
    const apart = this.latest(now) - this.wall(now);
    if (Math.abs(apart - this.#beatsApart) < redatedMsMin) return false;
    this.#beatsApart = apart;
    return true;
  }

  /** When a tick would change what we believe; null: only an answer can. */
  nextWake(): Instant | null {
    const oldest = this.#readings[0];
    return oldest && this.#isDisputed ? oldest.since + readingMsMax : null;
  }

  /** True if an answer has shown it. */
  get isKnown(): boolean {
    return this.#readings.length > 0;
  }

  /** Our machine may have been suspended: earlier requests say nothing of now. */
  doubt(): void {
    this.#readings.length = 0;
    this.#sentAt.clear();
  }

  /** Takes note of the requests that go out, and of those that are given up. */
  follow(now: Instant, actions: readonly Outgoing[]): void {
    for (const action of actions) {
      if (action.kind === 'send') {
        if (this.#isWanted(now) && !isProxied(action.request)) this.#listen(now, action.id);
      } else if (action.kind === 'abort') this.#sentAt.delete(action.id);
    }
  }

  /** Answers are dated in whole seconds: in a mass eviction the thousands of one second say as much as fifty. */
  #isWanted(now: Instant): boolean {
    return this.#sentAt.size < listenedMin || now >= this.#listenedAt + listenEveryMs;
  }

  #listen(now: Instant, id: string): void {
    this.#sentAt.set(id, now);
    this.#listenedAt = now;
  }

  /** Takes an input, or the passing of time; true if our belief has changed. */
  handle(now: Instant, input: Heard): boolean {
    switch (input.kind) {
      case 'head':
      case 'answer': {
        const sentAt = this.#sentAt.get(input.id);
        this.#sentAt.delete(input.id);
        return sentAt !== undefined && this.#read(now, sentAt, input.status, input.headers);
      }
      case 'end':
      case 'failed':
        this.#sentAt.delete(input.id);
        return false;
      case 'tick':
        return this.#review(now);
      default:
        return false;
    }
  }

  /** Some errors come from whatever stands before the server, and are dated by it. */
  #read(now: Instant, sentAt: Instant, status: number, headers: ResponseHeaders): boolean {
    const dated = dateHeader(headers);
    if (status >= 500 || dated === null) return false;
    const bounds = { least: dated - now - slackMs, most: dated + 1000 - sentAt + slackMs };
    const last = this.#readings.at(-1);
    if (last && now < last.since + readingsEveryMs) {
      // Most answers say nothing more exact than the one before.
      if (bounds.least <= last.least && bounds.most >= last.most) return false;
      this.#readings[this.#readings.length - 1] = { ...last, ...both(last, bounds) };
      if (!this.#isDisputed && this.#agrees(bounds)) return false;
    } else this.#readings.push({ since: now, ...bounds });
    return this.#review(now);
  }

  #review(now: Instant): boolean {
    const isOld = ({ since }: Reading): boolean => since + readingMsMax <= now;
    while (this.#readings.length > 1 && this.#readings[0] && isOld(this.#readings[0])) {
      this.#readings.shift();
    }
    if (this.#readings.length === 0) return false;
    const certain = this.#readings.reduce<Bounds>(both, anything);
    const isNews = !this.#agrees(certain);
    // The time that its clock has reached for certain: rather late by a second than early.
    if (isNews) this.#ahead = certain.least + slackMs;
    this.#isDisputed = !this.#readings.every((reading) => this.#agrees(reading));
    return isNews;
  }

  /** Tells whether the clock can be what we believe it to be. */
  #agrees({ least, most }: Bounds): boolean {
    return least <= this.#ahead && this.#ahead <= most;
  }
}

type Bounds = Pick<Reading, 'least' | 'most'>;

const anything: Bounds = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };

/** The bounds that two answers give together; the earlier one of two that contradict each other. */
function both(one: Bounds, other: Bounds): Bounds {
  const least = Math.max(one.least, other.least);
  const most = Math.min(one.most, other.most);
  if (least <= most) return { least, most };
  return one.most < other.most ? one : other;
}
