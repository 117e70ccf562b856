import type { Millis } from '@taintmgr/core';

const quietMs: Millis = 10_000;

/**
 * Bounds the log lines that others can cause: at once, then at most every ten seconds, with a
 * count. One subject is told of apart from another; they are few.
 */
export class Quiet {
  readonly #kept = new Map<string, { until: number; times: number }>();
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that does not go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `say` with how often it was since the last time it was said, or keeps it. */
  tell(subject: string, say: (times: number) => void): void {
    const now = this.#now();
    const kept = this.#kept.get(subject) ?? { until: now, times: 0 };
    kept.times += 1;
    this.#kept.set(subject, kept);
    if (now < kept.until) return;
    say(kept.times);
    this.#kept.set(subject, { until: now + quietMs, times: 0 });
  }
}
