import type { Instant, Millis } from '../../kernel/time.ts';
import { swapLimiter, type UpstreamLimiter } from './token-bucket.ts';

/** Milliseconds, and nanoseconds beyond them. */
export interface Stamp {
  readonly at: Instant;
  readonly nanos: number;
}

export interface QueuedNode {
  readonly value: string;
  readonly uid: string;
  readonly addedAt: Stamp;
  readonly processAt: Stamp;
}

/** What came of one item: it is done, or wants to be tried again after so long. */
export type ItemResult = { readonly done: true } | { readonly done: false; readonly wait: Millis };

/**
 * Upstream's RateLimitedTimedQueue: a heap by processAt, and a set of names. An item that is done
 * leaves the heap and stays in the set, which keeps it from being added again until it is removed.
 */
export class ZoneQueue {
  limiter: UpstreamLimiter;
  readonly #known = new Set<string>();
  readonly #heap: QueuedNode[] = [];

  constructor(limiter: UpstreamLimiter) {
    this.limiter = limiter;
  }

  /** The heap as it lies, its head first. */
  get queued(): readonly QueuedNode[] {
    return this.#heap;
  }

  get known(): ReadonlySet<string> {
    return this.#known;
  }

  add(value: string, uid: string, stamp: Stamp): boolean {
    if (this.#known.has(value)) return false;
    this.#push({ value, uid, addedAt: stamp, processAt: stamp });
    this.#known.add(value);
    return true;
  }

  remove(value: string): boolean {
    if (!this.#known.delete(value)) return false;
    this.#take(value);
    return true;
  }

  clear(): void {
    this.#known.clear();
    this.#heap.length = 0;
  }

  swapLimiter(now: Instant, rate: number): void {
    this.limiter = swapLimiter(this.limiter, now, rate);
  }

  /** The item whose turn it is. Takes a token before it looks whether one is due at all. */
  next(now: Stamp): QueuedNode | null {
    const [head] = this.#heap;
    if (!head || !this.limiter.tryAccept(now.at)) return null;
    return isBefore(now, head.processAt) ? null : head;
  }

  /** Puts down what came of an item, which may have left the queue meanwhile. */
  settle(now: Stamp, item: QueuedNode, result: ItemResult): void {
    if (!this.#take(item.value) || result.done) return;
    const processAt = { at: now.at + result.wait, nanos: now.nanos + 1 };
    this.#push({ ...item, processAt });
  }

  #push(item: QueuedNode): void {
    this.#heap.push(item);
    this.#up(this.#heap.length - 1);
  }

  /** As container/heap's Remove does: the last one takes the place, and finds its own. */
  #take(value: string): boolean {
    const index = this.#heap.findIndex((item) => item.value === value);
    if (index < 0) return false;
    const last = this.#heap.length - 1;
    if (index !== last) {
      this.#swap(index, last);
      this.#heap.pop();
      if (!this.#down(index)) this.#up(index);
    } else {
      this.#heap.pop();
    }
    return true;
  }

  #up(from: number): void {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #down(from: number): boolean {
    let index = from;
    for (let child = 2 * index + 1; child < this.#heap.length; child = 2 * index + 1) {
      if (child + 1 < this.#heap.length && this.#isBefore(child + 1, child)) child += 1;
      if (!this.#isBefore(child, index)) break;
      this.#swap(index, child);
      index = child;
    }
    return index > from;
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && isBefore(a.processAt, b.processAt);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (!a || !b) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}

function isBefore(one: Stamp, other: Stamp): boolean {
  return one.at < other.at || (one.at === other.at && one.nanos < other.nanos);
}
