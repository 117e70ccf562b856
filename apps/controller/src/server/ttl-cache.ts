import type { Millis } from '@taintmgr/core/time';

/** Values that hold for a while, at most `size` of them: the oldest make room. */
export class TtlCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>();
  readonly #size: number;
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that does not go back. */
  constructor(size: number, now: () => number) {
    this.#size = size;
    this.#now = now;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Nothing is kept for a time of 0. */
  set(key: string, value: T, ttl: Millis): void {
    this.#entries.delete(key);
    if (ttl <= 0) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= this.#size) this.#entries.delete(oldest);
    this.#entries.set(key, { value, until: this.#now() + ttl });
  }
}
