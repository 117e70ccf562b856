// Limits the requests under way at once, by how well the API server keeps up.
import type { Instant, Millis } from '../kernel/time.ts';
import { blockerOf } from './blocker.ts';
import type { Outcome } from './outcome.ts';

/** An answer that took longer may be a sign of overload, or of a slow webhook. */
const slowAnswerMs: Millis = 5_000;
/** The answers of an API server that has too much to do. */
const overloadStatuses: readonly (number | null)[] = [429, 503, 504, null];

/** So few at once in the beginning: the first pod is not to wait behind fifty others. */
const startMax = 16;
/** While fewer wait at the server than this, it takes more; where more wait, that only adds to the wait. */
const waitingMin = 8;
const waitingMax = 24;
/** The time of an answer on a server without a queue may change after this time. */
const windowMs: Millis = 5_000;
/**
 * A request without an answer for this time may wait for a webhook of its namespace: other requests
 * need not wait with it.
 */
const lateMs: Millis = 500;
/** The number of requests of a namespace under way where late ones of others hold all places. */
const besideLateMax = 4;

interface UnderWay {
  readonly key: string;
  readonly namespace: string;
  readonly sentAt: Instant;
}

/**
 * The requests under way: as many as the API server takes, and no more than allowed.
 *
 * The number that wait there is known by how much longer answers take than the quickest did (as in
 * TCP Vegas): where few wait, each answer makes room for one more, so twice as many go in the next
 * round; where many wait, each round takes one away. Between the two nothing changes, so the number
 * does not swing. A server that says that it cannot keep up gets half as many, and one more for
 * each full round of answers from then on. A slow server is treated the same way, but never gets
 * fewer than in the beginning: where a webhook takes its time for each request, fewer at once make
 * none of them quicker.
 *
 * Such a webhook holds up no other namespace. Where all places are taken, places of late requests
 * do not count for the pods of other namespaces, up to as many again, and never more than allowed.
 */
export class Pace {
  readonly #prefix: string;
  readonly #max: number;
  readonly #slowMax: number;
  #limit: number;
  #cutAt: Instant = Number.NEGATIVE_INFINITY;
  /** The quickest answer of this window, and of the one before. */
  #quickest: Millis = Number.POSITIVE_INFINITY;
  #quickestBefore: Millis = Number.POSITIVE_INFINITY;
  #windowAt: Instant = Number.NEGATIVE_INFINITY;
  /** By id, in the order in which they were sent. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #byNamespace = new Map<string, number>();
  #count = 0;

  /** `prefix` begins every id this one hands out. */
  constructor(prefix: string, max: number) {
    this.#prefix = prefix;
    this.#max = max;
    this.#slowMax = Math.min(max, startMax);
    this.#limit = this.#slowMax;
  }

  /** The number at once, from 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** True when one more may be sent, of any namespace. */
  get hasRoom(): boolean {
    return this.#underWay.size < this.limit;
  }

  /** The number of requests under way about pods of a namespace. */
  underWayOf(namespace: string): number {
    return this.#byNamespace.get(namespace) ?? 0;
  }

  /**
   * The time from which another request may be sent about a pod of a namespace, unless an answer
   * comes before; null: after an answer.
   */
  roomAt(namespace: string): Instant | null {
    if (this.hasRoom) return Number.NEGATIVE_INFINITY;
    const { size } = this.#underWay;
    if (size >= Math.min(this.#max, 2 * this.limit)) return null;
    if (this.underWayOf(namespace) >= besideLateMax) return null;
    let needed = size - this.limit + 1;
    for (const one of this.#underWay.values()) {
      if (one.namespace !== namespace) needed -= 1;
      if (needed === 0) return one.sentAt + lateMs;
    }
    return null;
  }

  /** Takes a place for a request about `key`, and answers its id. */
  start(sentAt: Instant, key: string, namespace: string): string {
    const id = `${this.#prefix}-${++this.#count}`;
    this.#underWay.set(id, { key, namespace, sentAt });
    this.#byNamespace.set(namespace, this.underWayOf(namespace) + 1);
    return id;
  }

  /** Takes the end of a request: its key, or null for an id that is not outstanding. */
  finish(now: Instant, id: string, outcome: Outcome): string | null {
    const ended = this.#underWay.get(id);
    if (!ended) return null;
    this.#underWay.delete(id);
    const { key, namespace, sentAt } = ended;
    const others = this.underWayOf(namespace) - 1;
    if (others > 0) this.#byNamespace.set(namespace, others);
    else this.#byNamespace.delete(namespace);
    const took = Math.max(1, now - sentAt);
    // Requests sent before the last cut say nothing new.
    const isNews = sentAt >= this.#cutAt;
    if (isOverload(outcome)) {
      if (isNews) this.#cut(now, 1);
    } else if (took <= slowAnswerMs) {
      this.#adapt(now, took, this.#max);
    } else if (isNews) {
      if (this.#limit > this.#slowMax) this.#cut(now, this.#slowMax);
      else this.#adapt(now, took, this.#slowMax);
    }
    return key;
  }

  #cut(now: Instant, min: number): void {
    this.#limit = Math.max(min, this.#limit / 2);
    this.#cutAt = now;
  }

  #adapt(now: Instant, took: Millis, max: number): void {
    const waiting = this.#limit * (1 - this.#quickestWith(now, took) / took);
    const isSpared = this.#cutAt > Number.NEGATIVE_INFINITY;
    if (waiting > waitingMax) this.#limit -= 1 / this.#limit;
    else if (waiting < waitingMin) this.#limit += isSpared ? 1 / this.#limit : 1;
    this.#limit = Math.min(max, this.#limit);
  }

  #quickestWith(now: Instant, took: Millis): Millis {
    if (now - this.#windowAt < windowMs) this.#quickest = Math.min(this.#quickest, took);
    else {
      this.#quickestBefore = this.#quickest;
      this.#quickest = took;
      this.#windowAt = now;
    }
    return Math.min(this.#quickest, this.#quickestBefore);
  }
}

function isOverload(outcome: Outcome): boolean {
  if (outcome.kind !== 'failed' || !overloadStatuses.includes(outcome.status)) return false;
  // A webhook says 429 as well.
  return blockerOf(outcome).code !== 'Intercepted';
}
