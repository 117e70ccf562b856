// Limits the rate of requests: a token bucket, and a queue in which all senders have their turn.
import { type ApiRequest, type Transport, taintManagersPath } from '@taintmgr/k8s-adapter';

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
      // A timer without waiters would keep an ending process alive.
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
      // Moves the peer behind all others; this loop reaches it again.
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

  /** The time until there is one, after `take` found none. */
  get waitMs(): number {
    return Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}

interface RateLimit {
  /** Requests per second, above 0. */
  readonly qps: number;
  /** Requests at once after a pause, from 1. */
  readonly burst: number;
  /** A clock in milliseconds that does not go back. */
  readonly now: () => number;
  /** True for requests that do not have to wait. */
  readonly exempt: (request: ApiRequest) => boolean;
  /** Called with how long each request waited for its turn, in seconds. */
  readonly onWait: (method: string, seconds: number) => void;
}

/** The transport with a limit of requests a second, in the order they come. */
export function rateLimited(transport: Transport, limit: RateLimit): Transport {
  const { qps, burst, now, exempt, onWait } = limit;
  const queue = new FairQueue(qps, burst, now);
  return {
    send: (request, sink) => {
      if (exempt(request)) return transport.send(request, sink);
      const askedAt = now();
      let hangUp = (): void => {};
      const leave = queue.enter('', () => {
        onWait(request.method, (now() - askedAt) / 1000);
        hangUp = transport.send(request, sink);
      });
      return () => {
        leave();
        hangUp();
      };
    },
  };
}

/** A leader that waits behind its own requests would lose its lease, or count as gone. */
export function isHeartbeat({ path }: ApiRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/') || path.startsWith(taintManagersPath);
}
