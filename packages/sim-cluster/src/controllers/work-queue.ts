import type { Clock, Timer } from '../kernel/clock.ts';
import { ApiError, messageOf } from '../objects/errors.ts';

const retryFirstMs = 5;
const retryLastMs = 60_000;

/**
 * The work of a level-triggered controller: keys to look at again, each at most once per round. A
 * round runs on the clock, never inside the change that caused it, and keys run in the order in
 * which they were added. Work refused by the API (ApiError) is tried again after a growing pause of
 * 5 ms to 1 min. Work that ends with any other error, a mistake in this package, is retried too,
 * and the error is thrown on with the key; the rest of the round runs later, if the clock
 * continues.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #work: (key: string) => void;
  readonly #gatherMs: number;
  readonly #later = new Map<string, { readonly at: number; readonly timer: Timer }>();
  readonly #failures = new Map<string, number>();
  #keys = new Set<string>();
  #round: Timer | null = null;

  /** `gatherMs` is how long a round waits for more keys after the first one. */
  constructor(clock: Clock, work: (key: string) => void, gatherMs = 0) {
    this.#clock = clock;
    this.#work = work;
    this.#gatherMs = gatherMs;
  }

  add(key: string): void {
    this.#keys.add(key);
    this.#round ??= this.#clock.after(this.#gatherMs, () => this.#runRound());
  }

  /** Adds `key` in `delayMs`, unless it is already due earlier than that. */
  addAfter(key: string, delayMs: number): void {
    const at = this.#clock.now() + delayMs;
    const planned = this.#later.get(key);
    if (planned && planned.at <= at) return;
    planned?.timer.cancel();
    const timer = this.#clock.after(delayMs, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, timer });
  }

  /** True if nothing is due and nothing has failed; work planned for later does not count. */
  get isIdle(): boolean {
    return this.#keys.size === 0 && this.#failures.size === 0;
  }

  /** Forgets all work, planned work too; the queue can be used again afterwards. */
  clear(): void {
    this.#round?.cancel();
    this.#round = null;
    for (const { timer } of this.#later.values()) timer.cancel();
    this.#later.clear();
    this.#failures.clear();
    this.#keys = new Set();
  }

  #runRound(): void {
    const keys = this.#keys;
    this.#keys = new Set();
    this.#round = null;
    const left = keys.values();
    try {
      for (const key of left) this.#run(key);
    } finally {
      // The iterator of a set continues at its last position.
      for (const key of left) this.add(key);
    }
  }

  #run(key: string): void {
    try {
      this.#work(key);
      this.#failures.delete(key);
    } catch (error) {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.addAfter(key, Math.min(retryLastMs, retryFirstMs * 2 ** failures));
      if (error instanceof ApiError) return;
      throw new Error(`${key}: ${messageOf(error)}`, { cause: error });
    }
  }
}
