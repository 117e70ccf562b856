import { assert } from './checks.ts';
import type { Instant } from './time.ts';

/** A token bucket on given time: `perSecond` tokens come in, at most `burst` are kept. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: Instant | null = null;

  constructor(perSecond: number, burst: number) {
    assert(perSecond > 0 && burst >= 1, 'a bucket lets something through');
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** True when this number of tokens is there. */
  has(now: Instant, count: number): boolean {
    return this.#tokensAt(now) >= count;
  }

  /**
   * The time at which this number of tokens is there, at most the burst; `now` or earlier means at
   * once.
   */
  readyAt(now: Instant, count = 1): Instant {
    const tokens = this.#tokensAt(now);
    if (tokens >= count) return now;
    // Rounded up to whole milliseconds, so that a caller who waits until then finds them.
    return now + Math.ceil((count - tokens) / this.#perMs);
  }

  /** Takes this number of tokens, which must be there. */
  take(now: Instant, count = 1): void {
    assert(this.readyAt(now, count) <= now, 'a token is taken when it is there');
    this.#tokens = this.#tokensAt(now) - count;
    this.#at = now;
  }

  /** Puts back unused tokens. */
  putBack(now: Instant, count: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokensAt(now) + count);
    this.#at = now;
  }

  /** The instant at which it has, or had, one token; null: it is full. */
  oneAt(now: Instant): Instant | null {
    const tokens = this.#tokensAt(now);
    if (tokens >= this.#burst) return null;
    return now + Math.ceil((1 - tokens) / this.#perMs);
  }

  /** Continues as a bucket that has, or had, one token at that instant. */
  restore(now: Instant, oneAt: Instant): void {
    const tokens = 1 - (oneAt - now) * this.#perMs;
    this.#tokens = Math.min(this.#burst, Math.max(0, tokens));
    this.#at = now;
  }

  /** Changes nothing: people ask about other instants than the present. */
  #tokensAt(now: Instant): number {
    const elapsed = this.#at === null ? 0 : Math.max(0, now - this.#at);
    // The tiny addition makes up for what binary fractions lose, so 10 waits of 100 ms fill 1/s.
    return Math.min(this.#burst, this.#tokens + elapsed * this.#perMs + 1e-9);
  }
}
