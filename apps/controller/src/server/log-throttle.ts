import type { Millis } from '@taintmgr/core/time';

const pauseMs: Millis = 10_000;

/**
 * Bounds the log lines that others can cause: the first at once, then at most one every ten seconds,
 * with a count. Each subject is counted by itself; they are few.
 */
export class LogThrottle {
  readonly #held = new Map<string, { until: number; times: number }>();
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that does not go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `write` with how often it has happened since the last line, or only counts. */
  log(subject: string, write: (times: number) => void): void {
    const now = this.#now();
    const held = this.#held.get(subject) ?? { until: now, times: 0 };
    held.times += 1;
    this.#held.set(subject, held);
    if (now < held.until) return;
    write(held.times);
    this.#held.set(subject, { until: now + pauseMs, times: 0 });
  }
}
