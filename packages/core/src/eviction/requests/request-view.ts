// Lists of EvictionRequests, again and again while they matter.
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import type { EvictionRequest } from '../../model/eviction-request.ts';

/**
 * The interval at which EvictionRequests are listed while they matter; a list of this age no longer
 * counts.
 */
const listEveryMs: Millis = 5_000;
const listAgeMsMax: Millis = 45_000;
/** A list without an answer after this time is no longer waited for: a list fails in less. */
const lostMs: Millis = 60_000;

/**
 * The requests are listed repeatedly: they are few, and one list shows ours and those of others.
 */
export class RequestView {
  readonly #prefix: string;
  #count = 0;
  #byPod = new Map<string, EvictionRequest[]>();
  /** Null: no answer came. */
  #isServed: boolean | null = null;
  #listedAt: Instant | null = null;
  /** The number of the list that counts; 0: none. */
  #listed = 0;
  /** True if something was written since it was asked for. */
  #isDoubted = false;
  /** When the list was asked for that is under way; null: none is. */
  #askedAt: Instant | null = null;
  #pendingId = '';
  #nextAt: Instant;
  #trouble = 'it is not known yet';
  #hasFailed = false;
  #isRefused = false;
  /** Since when lists fail; null: the last one did not. */
  #failingSince: Instant | null = null;
  #answeredAt: Instant | null = null;
  /** True if the cluster has none, or they may not be seen: that does not change soon. */
  #isAbsent = false;
  readonly #absentEveryMs: Millis;

  /** `absentEveryMs`: how often it is looked where the cluster has none, or they may not be seen. */
  constructor(prefix: string, now: Instant, absentEveryMs: Millis = listEveryMs) {
    this.#prefix = prefix;
    this.#nextAt = now;
    this.#absentEveryMs = absentEveryMs;
  }

  /** True if the last list was refused: rights do not come by asking again soon. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /**
   * True if requests may not be read, or lists have failed for a minute: pods no longer wait for
   * them.
   */
  isLost(now: Instant): boolean {
    if (this.#isRefused) return true;
    return this.#failingSince !== null && now >= this.#failingSince + lostMs;
  }

  /** The end of the wait for lists that fail; null: they do not fail. */
  lostAt(now: Instant): Instant | null {
    if (this.#failingSince === null || this.isLost(now)) return null;
    return this.#failingSince + lostMs;
  }

  /** True if the last list that was asked for did not come. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** True if the cluster has the API; null: unknown. */
  get isServed(): boolean | null {
    return this.#isServed;
  }

  /** The reason why the requests are unknown. */
  get trouble(): string {
    return this.#trouble;
  }

  /** The number of lists that were asked for. */
  get asked(): number {
    return this.#count;
  }

  /** The number of the list that was answered last; 0: none. */
  get listed(): number {
    return this.#listed;
  }

  /** True if a list was answered recently, by its content, by its absence, or by a refusal. */
  isAnswered(now: Instant): boolean {
    const ageMsMax = this.#isAbsent ? this.#absentEveryMs : listAgeMsMax;
    return this.#answeredAt !== null && now < this.#answeredAt + ageMsMax;
  }

  isKnown(now: Instant): boolean {
    return this.#listedAt !== null && now < this.#listedAt + listAgeMsMax;
  }

  of(podUid: string): readonly EvictionRequest[] {
    return this.#byPod.get(podUid) ?? [];
  }

  all(): readonly EvictionRequest[] {
    return [...this.#byPod.values()].flat();
  }

  /** The id of the list to ask for now; null: none. */
  takeDue(now: Instant): string | null {
    if (this.#askedAt !== null || now < this.#nextAt) return null;
    this.#askedAt = now;
    this.#isDoubted = false;
    this.#pendingId = `${this.#prefix}-${++this.#count}`;
    return this.#pendingId;
  }

  /** Takes the content of a list; its result follows. */
  hear(isServed: boolean, requests: readonly EvictionRequest[]): void {
    this.#isServed = isServed;
    this.#byPod = new Map();
    for (const request of requests) {
      this.#byPod.set(request.podUid, [...this.of(request.podUid), request]);
    }
  }

  /** Takes the result of a list. */
  settle(now: Instant, id: string, outcome: Outcome): void {
    if (id !== this.#pendingId || this.#askedAt === null) return;
    this.#hasFailed = isSetback(outcome);
    if (isSetback(outcome)) {
      this.#trouble = outcome.message;
      this.#failingSince ??= this.#askedAt;
    } else {
      this.#listedAt = this.#askedAt;
      this.#listed = this.#count;
      this.#failingSince = null;
    }
    this.#askedAt = null;
    this.#answeredAt = now;
    this.#isRefused = isRefusal(outcome);
    this.#isAbsent = this.#isRefused || (!this.#hasFailed && this.#isServed === false);
    const waitMs = this.#isAbsent ? this.#absentEveryMs : listEveryMs;
    this.#nextAt = this.#isDoubted ? now : now + waitMs;
  }

  /** The requests are listed at once: the known list may be wrong. */
  doubt(now: Instant): void {
    this.#isDoubted = true;
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  /** The request was taken back. */
  drop(podUid: string, drain: string): void {
    const left = this.of(podUid).filter((one) => one.drain !== drain);
    if (left.length > 0) this.#byPod.set(podUid, left);
    else this.#byPod.delete(podUid);
  }

  nextWake(): Instant | null {
    return this.#askedAt === null ? this.#nextAt : null;
  }
}

/** Rights do not come by asking again soon. */
function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && (outcome.status === 401 || outcome.status === 403);
}
