import type { Instant, Millis } from '../../kernel/time.ts';
import { type Node, zoneKey } from '../../model/node.ts';
import {
  type ZoneCounts,
  type ZoneRates,
  type ZoneState,
  zoneRate,
  zoneState,
} from '../zone-rates.ts';

interface CountedZone extends ZoneCounts {
  readonly state: ZoneState;
}

/** The turn after a pass when everything is down, or no longer is. */
type Turn = 'enterFullDisruption' | 'exitFullDisruption' | null;

/**
 * Upstream's zones: their states, queues and counters. A state can be missing where a queue is not
 * and the other way round, as it is upstream; queues are never taken away.
 */
export class ZoneStore {
  readonly states: Map<string, ZoneState | null> = new Map();
  readonly queues: Map<string, ZoneQueue> = new Map();
  readonly evictions: Map<string, number> = new Map();
  readonly nodeCounts: Map<string, ZoneCounts> = new Map();
  readonly #rates: ZoneRates;
  #stamp: Stamp = { at: Number.NEGATIVE_INFINITY, nanos: 0 };

  constructor(rates: ZoneRates) {
    this.#rates = rates;
  }

  /** A zone seen for the first time, or again after it was forgotten: with a full bucket. */
  ensure(now: Instant, node: Node): void {
    const zone = zoneKey(node.labels ?? {});
    if (this.states.has(zone)) return;
    const limiter = new UpstreamLimiter('tokenBucket', now, this.#rates.nodeEvictionRate);
    this.states.set(zone, 'Initial');
    this.queues.set(zone, new ZoneQueue(limiter));
    this.evictions.set(zone, this.evictions.get(zone) ?? 0);
  }

  /**
   * A zone with this number of nodes, of which one was tainted last at `taintedAt` (null: none), as
   * it is after a while.
   */
  takeUp(now: Instant, zone: string, counts: ZoneCounts, taintedAt: Instant | null): void {
    const state = zoneState(counts, this.#rates.unhealthyZoneThreshold);
    const rate = zoneRate(state, counts.ready + counts.notReady, this.#rates);
    this.states.set(zone, state);
    this.nodeCounts.set(zone, counts);
    this.#limit(
      zone,
      rate > 0 ? limiterSince(taintedAt, now, rate) : new UpstreamLimiter('never', now),
    );
  }

  /** All zones are down. */
  takeUpFullDisruption(now: Instant): void {
    for (const zone of this.states.keys()) this.#limit(zone, new UpstreamLimiter('never', now));
  }

  #limit(zone: string, limiter: UpstreamLimiter): void {
    const queue = this.queues.get(zone);
    if (queue) queue.limiter = limiter;
  }

  queueOf(node: Node): ZoneQueue | null {
    return this.queues.get(zoneKey(node.labels ?? {})) ?? null;
  }

  countEviction(zone: string): void {
    this.evictions.set(zone, (this.evictions.get(zone) ?? 0) + 1);
  }

  /** Every reading of the clock is later than the one before, as Go's is. */
  stamp(now: Instant): Stamp {
    const isSame = this.#stamp.at === now;
    this.#stamp = { at: now, nanos: isSame ? this.#stamp.nanos + 1 : 0 };
    return this.#stamp;
  }

  /** Takes in what a pass counted, changes states and limiters, and says what turns everything. */
  take(now: Instant, nodeCounts: ReadonlyMap<string, ZoneCounts>): Turn {
    const counted = this.#count(nodeCounts);
    const isAllDown = [...counted.values()].every(({ state }) => state === 'FullDisruption');
    const wasAllDown = this.#prune(counted);
    if (isAllDown && !wasAllDown) {
      for (const zone of this.states.keys()) {
        this.queues.get(zone)?.swapLimiter(now, 0);
        this.states.set(zone, 'FullDisruption');
      }
      return 'enterFullDisruption';
    }
    if (isAllDown) return null;
    for (const [zone, state] of this.states) {
      const next = counted.get(zone);
      if (wasAllDown || state !== (next?.state ?? null)) this.#turn(now, zone, next);
    }
    return wasAllDown ? 'exitFullDisruption' : null;
  }

  #count(nodeCounts: ReadonlyMap<string, ZoneCounts>): ReadonlyMap<string, CountedZone> {
    const counted = new Map<string, CountedZone>();
    for (const [zone, count] of nodeCounts) {
      const state = zoneState(count, this.#rates.unhealthyZoneThreshold);
      counted.set(zone, { ...count, state });
      this.nodeCounts.set(zone, count);
      if (!this.states.has(zone)) this.states.set(zone, 'Initial');
    }
    return counted;
  }

  /** Forgets zones without counted nodes. Defect: stops at the first that is not wholly down. */
  #prune(counted: ReadonlyMap<string, CountedZone>): boolean {
    for (const [zone, state] of this.states) {
      if (!counted.has(zone)) {
        this.states.delete(zone);
        this.nodeCounts.set(zone, { ready: 0, notReady: 0 });
      } else if (state !== 'FullDisruption') {
        return false;
      }
    }
    return true;
  }

  /** Defect: a zone that was not forgotten in time gets no state and keeps its limiter. */
  #turn(now: Instant, zone: string, next: CountedZone | undefined): void {
    this.states.set(zone, next?.state ?? null);
    if (!next) return;
    const rate = zoneRate(next.state, next.ready + next.notReady, this.#rates);
    this.queues.get(zone)?.swapLimiter(now, rate);
  }
}

/** Milliseconds, and nanoseconds beyond them. */
interface Stamp {
  readonly at: Instant;
  readonly nanos: number;
}

export interface QueuedNode {
  readonly value: string;
  readonly uid: string;
  readonly addedAt: Stamp;
  readonly processAt: Stamp;
}

/** The result of one item: it is done, or wants to be tried again after this time. */
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

  /** The node was queued and tainted before: it is not queued again until it is removed. */
  noteDone(value: string): void {
    this.#known.add(value);
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

/** The kind of limiter of a zone. `never` and `always` both report one token a second. */
export type LimiterKind = 'tokenBucket' | 'never' | 'always';

const nanosPerSecond = 1e9;

/**
 * golang.org/x/time/rate as the zone queues use it, rounding included: a 32-bit rate, a refusal
 * that changes nothing, and a rate of 0 that still has the tokens it began with.
 */
export class UpstreamLimiter {
  readonly kind: LimiterKind;
  readonly qps: number;
  readonly #burst: number;
  #tokens: number;
  #last: Instant;

  constructor(kind: LimiterKind, now: Instant, qps = 1, burst = 1) {
    this.kind = kind;
    this.qps = Math.fround(qps);
    this.#burst = burst;
    this.#tokens = burst;
    this.#last = now;
  }

  /** Takes a token if there is one. */
  tryAccept(now: Instant): boolean {
    if (this.kind !== 'tokenBucket') return this.kind === 'always';
    const elapsed = Math.max(0, now - this.#last);
    const seconds = Math.trunc(elapsed / 1000) + ((elapsed % 1000) * 1e6) / nanosPerSecond;
    const tokens = Math.min(this.#burst, this.#tokens + seconds * this.qps) - 1;
    if (tokens < 0 && Math.trunc((-tokens / this.qps) * nanosPerSecond) > 0) return false;
    this.#tokens = tokens;
    this.#last = now;
    return true;
  }
}

/** The limiter of a zone of which a node was tainted at `taintedAt`; null: none, and its bucket is full. */
function limiterSince(taintedAt: Instant | null, now: Instant, qps: number): UpstreamLimiter {
  const limiter = new UpstreamLimiter('tokenBucket', taintedAt ?? now, qps);
  if (taintedAt !== null) limiter.tryAccept(taintedAt);
  return limiter;
}

/**
 * Changes the rate as SwapLimiter does. Defect: one that never lets through reports a rate of 1, so
 * that a new rate of 1 changes nothing.
 */
export function swapLimiter(limiter: UpstreamLimiter, now: Instant, rate: number): UpstreamLimiter {
  const qps = Math.fround(rate);
  if (limiter.qps === qps) return limiter;
  if (qps <= 0) return new UpstreamLimiter('never', now);
  const next = new UpstreamLimiter('tokenBucket', now, qps);
  if (!limiter.tryAccept(now)) next.tryAccept(now);
  return next;
}
