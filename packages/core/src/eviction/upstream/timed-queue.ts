import { Schedule } from '../../kernel/schedule.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Taint } from '../../model/taint.ts';

/** When a pod is due, and the taint that decided so. */
export interface TimedWork {
  readonly createdAt: Instant;
  readonly fireAt: Instant;
  readonly taint: Taint;
}

/** What is stored under a key: a timer, or the mark of a deletion that began without one. */
export type QueueEntry =
  | (TimedWork & { readonly kind: 'timer'; readonly timer: string })
  | (Omit<TimedWork, 'fireAt'> & { readonly kind: 'inProgress' });

/**
 * kube-controller-manager's timed queue, with its races: entries go by name, a timer that has fired
 * stays in the map while its deletion runs, and whatever is stored under the name is removed when
 * that deletion ends. A timer that lost its entry this way still fires and can no longer be
 * cancelled (rule `orphan-timer`).
 */
export class TimedQueue {
  readonly #entries = new Map<string, QueueEntry>();
  readonly #schedule = new Schedule();
  readonly #keys = new Map<string, string>();
  #count = 0;

  /** The pending timer of a key; a deletion in progress counts as none. */
  timer(key: string): Extract<QueueEntry, { kind: 'timer' }> | null {
    const entry = this.#entries.get(key);
    return entry?.kind === 'timer' ? entry : null;
  }

  entry(key: string): QueueEntry | null {
    return this.#entries.get(key) ?? null;
  }

  entries(): Iterable<readonly [string, QueueEntry]> {
    return this.#entries;
  }

  /**
   * Adds work due `fireAt - createdAt` from now; nothing when the key has an entry. True when it is
   * to begin at once.
   */
  add(now: Instant, key: string, { createdAt, fireAt, taint }: TimedWork): boolean {
    if (this.#entries.has(key)) return false;
    const delay = fireAt - createdAt;
    if (delay <= 0) {
      this.#entries.set(key, { kind: 'inProgress', createdAt, taint });
      return true;
    }
    // Zero padded: timers due at one instant fire in the order in which they were set.
    const timer = String(++this.#count).padStart(12, '0');
    this.#entries.set(key, { kind: 'timer', createdAt, fireAt: now + delay, taint, timer });
    this.#schedule.set(timer, now + delay);
    this.#keys.set(timer, key);
    return false;
  }

  /** Forgets the entry of a key; whether that was a timer, fired or not. */
  cancel(key: string): boolean {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry?.kind !== 'timer') return false;
    this.#schedule.cancel(entry.timer);
    this.#keys.delete(entry.timer);
    return true;
  }

  /** Removes whatever is stored under the key of a deletion that ended. Its timer goes on. */
  finish(key: string): void {
    this.#entries.delete(key);
  }

  /** Takes the key of the next timer due at `now`. */
  takeDue(now: Instant): string | null {
    const timer = this.#schedule.takeDue(now);
    if (timer === null) return null;
    const key = this.#keys.get(timer) ?? null;
    this.#keys.delete(timer);
    return key;
  }

  next(): Instant | null {
    return this.#schedule.next();
  }
}
