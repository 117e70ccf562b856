/**
 * Limits how much begins in a second. Peers take turns: one that comes a thousand times delays itself,
 * not the others.
 */
export class FairQueue {
  /** By peer, in the order of their turns; none is empty. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #bucket: TokenBucket;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | null = null;

  /** `now` is a clock in milliseconds that does not go back. */
  constructor(perSecond: number, burst: number, now: () => number) {
    this.#bucket = new TokenBucket(perSecond, burst);
    this.#now = now;
  }

  /** Calls `begin` when it is this peer's turn, perhaps at once. Returns how to leave the queue. */
  enter(peer: string, begin: () => void): () => void {
    const queue = this.#waiting.get(peer) ?? new Set();
    this.#waiting.set(peer, queue.add(begin));
    if (!this.#timer) this.#letThrough();
    return () => {
      if (queue.delete(begin) && queue.size === 0) this.#waiting.delete(peer);
      // A timer that nobody waits for would keep a process that is told to end.
      if (this.#waiting.size === 0) this.close();
    };
  }

  close(): void {
    this.#waiting.clear();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #letThrough(): void {
    this.#timer = null;
    for (const [peer, queue] of this.#waiting) {
      if (!this.#bucket.take(this.#now())) {
        this.#timer = setTimeout(() => this.#letThrough(), this.#bucket.waitMs);
        return;
      }
      const [begin] = queue;
      if (begin) queue.delete(begin);
      // Behind all others; this loop comes to it again.
      this.#waiting.delete(peer);
      if (queue.size > 0) this.#waiting.set(peer, queue);
      begin?.();
    }
  }
}

/** A token bucket on a clock in milliseconds that does not go back. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes a token, if there is one. */
  take(now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** How long until there is one, after `take` found none. */
  get waitMs(): number {
    return Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}
