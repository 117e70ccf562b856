import type { Instant } from '../kernel/time.ts';

/**
 * The token bucket of one zone: at most one token is kept. It begins empty, and when a rate comes
 * after none, so that neither a restart nor a zone that wavers taints faster than the rate. A token
 * is spent when a node is tainted and for nothing else.
 */
export class ZoneBucket {
  #perMs = 0;
  #level = 0;
  #at: Instant;

  constructor(now: Instant) {
    this.#at = now;
  }

  /** Nodes a second; 0: none. */
  get rate(): number {
    return this.#perMs * 1000;
  }

  setRate(now: Instant, perSecond: number): void {
    this.#fill(now);
    this.#perMs = perSecond / 1000;
    if (perSecond === 0) this.#level = 0;
  }

  /** Begins anew, without a token. */
  empty(now: Instant): void {
    this.#fill(now);
    this.#level = 0;
  }

  /** When a token is there; `now`: it is. Null: never at this rate. */
  readyAt(now: Instant): Instant | null {
    const level = this.#levelAt(now);
    if (level >= 1) return now;
    // Rounded up to whole milliseconds, so that a caller who waits until then finds it.
    return this.#perMs === 0 ? null : now + Math.ceil((1 - level) / this.#perMs);
  }

  /** Takes the token, which must be there. */
  take(now: Instant): void {
    this.#fill(now);
    this.#level -= 1;
  }

  /** Puts it back: the node was not tainted after all. */
  giveBack(): void {
    if (this.#perMs > 0) this.#level = Math.min(1, this.#level + 1);
  }

  #fill(now: Instant): void {
    this.#level = this.#levelAt(now);
    this.#at = Math.max(this.#at, now);
  }

  /** Changes nothing: people ask about other instants than the present. */
  #levelAt(now: Instant): number {
    // The tiny addition makes up for what binary fractions lose.
    const filled = this.#level + Math.max(0, now - this.#at) * this.#perMs;
    return Math.min(1, this.#perMs > 0 ? filled + 1e-9 : this.#level);
  }
}
