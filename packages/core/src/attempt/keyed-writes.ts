// Writes to many objects, one at a time for each, tried again when they fail.
import { InFlight } from '../kernel/inflight.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import { isSetback, type Outcome } from './outcome.ts';
import { nextAttempt, type RetryWait } from './retry.ts';

/** The ids of writes, and the times for which they wait. */
export interface WriteRules extends RetryWait {
  /** Begins every id. */
  readonly prefix: string;
  /** Under way at one time, at most. */
  readonly max: number;
  /** After a success, until the watch has shown it: then the object is looked at again. */
  readonly confirmationWaitMs: Millis;
  /** True when a first failure of this kind is tried again at once. */
  readonly isStale?: (outcome: Outcome) => boolean;
}

/** A write that has ended. */
export interface EndedWrite {
  readonly key: string;
  /** The number of failures in a row; 0: it succeeded. */
  readonly failures: number;
  /** When its object is looked at again. */
  readonly at: Instant;
}

/**
 * The next time to look at each object, and the objects that are being written. After a failure an
 * object waits, the longer the more often it failed; after a success until the watch has shown it.
 */
export class KeyedWrites {
  readonly #rules: WriteRules;
  readonly #inFlight: InFlight;
  readonly #due = new Schedule();
  /** The ids of the writes under way. */
  readonly #ids = new Map<string, string>();
  readonly #failures = new Map<string, number>();

  constructor(rules: WriteRules) {
    this.#rules = rules;
    this.#inFlight = new InFlight(rules.prefix, rules.max);
  }

  /** The number of writes that may still begin. */
  get room(): number {
    return this.#inFlight.room;
  }

  nextWake(): Instant | null {
    return this.#inFlight.hasRoom ? this.#due.next() : null;
  }

  isUnderWay(key: string): boolean {
    return this.#ids.has(key);
  }

  /** The number of writes in a row that have failed; 0: the last one succeeded; null: none has ended. */
  failures(key: string): number | null {
    return this.#failures.get(key) ?? null;
  }

  /** The next time to look at the object; null: not before something happens. */
  dueAt(key: string): Instant | null {
    return this.#due.at(key);
  }

  /** Schedules a look at the object, unless its write is under way, or has failed and waits. */
  notice(now: Instant, key: string): void {
    if (!this.isUnderWay(key) && !this.failures(key)) this.#due.set(key, now);
  }

  /** Takes the objects that are due, one by one, as long as there is room. */
  *takeDue(now: Instant): Generator<string> {
    while (this.#inFlight.hasRoom) {
      const key = this.#due.takeDue(now);
      if (key === null) return;
      yield key;
    }
  }

  /** The object cannot be written before `at`. */
  postpone(key: string, at: Instant): void {
    this.#due.set(key, at);
  }

  /** Nothing more is written there; a write under way counts as a stranger's. */
  forget(key: string): void {
    this.#due.cancel(key);
    this.#ids.delete(key);
    this.#failures.delete(key);
  }

  /** Begins a write and answers its id. */
  begin(key: string): string {
    const id = this.#inFlight.start(key);
    this.#due.cancel(key);
    this.#ids.set(key, id);
    return id;
  }

  /** Takes a result; null when it is not one of ours, or its object was forgotten meanwhile. */
  settle(now: Instant, id: string, outcome: Outcome): EndedWrite | null {
    const key = this.#inFlight.finish(id);
    if (key === null || this.#ids.get(key) !== id) return null;
    this.#ids.delete(key);
    const failures = isSetback(outcome) ? (this.failures(key) ?? 0) + 1 : 0;
    const at = this.#nextLook(now, key, failures, outcome);
    this.#failures.set(key, failures);
    this.#due.set(key, at);
    return { key, failures, at };
  }

  #nextLook(now: Instant, key: string, failures: number, outcome: Outcome): Instant {
    if (failures === 0) return now + this.#rules.confirmationWaitMs;
    if (failures === 1 && this.#rules.isStale?.(outcome)) return now;
    return nextAttempt(now, key, failures, this.#rules, outcome);
  }
}
