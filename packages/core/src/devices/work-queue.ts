// The work queue of a Kubernetes controller: items to look at, their times, and how many at a time.
import { Schedule } from '../kernel/schedule.ts';
import type { Instant, Millis } from '../kernel/time.ts';

const backoffMs: Millis = 5;
const backoffMsMax: Millis = 1_000_000;
/** Retries of all items together. */
const retriesPerSecond = 10;
const retriesBurst = 100;

/**
 * Items are names. An item that is added again while it is worked on is worked on once more after
 * that. An item that is added for later is taken at the earliest time that was given. A failed item
 * is tried again after 5 ms, and each time after twice as long, up to 1000 s, without an end.
 * Source: client-go's default rate-limiting queue of controllers.
 */
export class WorkQueue {
  readonly #workers: number;
  readonly #ready: string[] = [];
  readonly #wanted = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #later = new Schedule();
  readonly #failures = new Map<string, number>();
  #retries = { left: retriesBurst, at: 0 };

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** True when something waits for a worker, and there is one. */
  get isReady(): boolean {
    return this.#ready.length > 0 && this.#underWay.size < this.#workers;
  }

  add(item: string): void {
    if (this.#wanted.has(item)) return;
    this.#wanted.add(item);
    if (!this.#underWay.has(item)) this.#ready.push(item);
  }

  addAt(item: string, at: Instant): void {
    const known = this.#later.at(item);
    if (known === null || at < known) this.#later.set(item, at);
  }

  /** The next item, for as long as a worker has nothing to do; null: none. */
  take(now: Instant): string | null {
    for (let due = this.#later.takeDue(now); due !== null; due = this.#later.takeDue(now)) {
      this.add(due);
    }
    if (this.#underWay.size >= this.#workers) return null;
    const item = this.#ready.shift();
    if (item === undefined) return null;
    this.#wanted.delete(item);
    this.#underWay.add(item);
    return item;
  }

  /**
   * The item is done, or nothing had to be done; its failures are forgotten. `again`: the next time
   * to look at it.
   */
  end(item: string, again: Instant | null = null): void {
    if (again === null) this.#failures.delete(item);
    else this.addAt(item, again);
    this.#free(item);
  }

  fail(now: Instant, item: string): void {
    const failures = this.#failures.get(item) ?? 0;
    this.#failures.set(item, failures + 1);
    const wait = Math.min(backoffMs * 2 ** failures, backoffMsMax);
    this.addAt(item, now + Math.max(wait, this.#reserveRetry(now)));
    this.#free(item);
  }

  /** When something that waits for its time is due; null: nothing is. */
  nextWake(): Instant | null {
    return this.#later.next();
  }

  #free(item: string): void {
    this.#underWay.delete(item);
    if (this.#wanted.has(item)) this.#ready.push(item);
  }

  /** The time that a retry waits for those of the other items. */
  #reserveRetry(now: Instant): Millis {
    const { left, at } = this.#retries;
    const filled = Math.min(retriesBurst, left + ((now - at) / 1000) * retriesPerSecond);
    this.#retries = { left: filled - 1, at: now };
    return filled >= 1 ? 0 : ((1 - filled) / retriesPerSecond) * 1000;
  }
}
