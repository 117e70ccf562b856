import type { Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import { zoneKey } from '../../model/zone.ts';
import {
  type ZoneCounts,
  type ZoneRates,
  type ZoneState,
  zoneRate,
  zoneState,
} from '../zone-rates.ts';
import { UpstreamLimiter } from './token-bucket.ts';
import { type Stamp, ZoneQueue } from './zone-queue.ts';

interface Counted extends ZoneCounts {
  readonly state: ZoneState;
}

/** What to do after a pass when everything is down, or is no more. */
export type Turn = 'enterFullDisruption' | 'exitFullDisruption' | null;

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

  #count(nodeCounts: ReadonlyMap<string, ZoneCounts>): ReadonlyMap<string, Counted> {
    const counted = new Map<string, Counted>();
    for (const [zone, count] of nodeCounts) {
      const state = zoneState(count, this.#rates.unhealthyZoneThreshold);
      counted.set(zone, { ...count, state });
      this.nodeCounts.set(zone, count);
      if (!this.states.has(zone)) this.states.set(zone, 'Initial');
    }
    return counted;
  }

  /** Forgets zones without counted nodes. Defect: stops at the first that is not wholly down. */
  #prune(counted: ReadonlyMap<string, Counted>): boolean {
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
  #turn(now: Instant, zone: string, next: Counted | undefined): void {
    this.states.set(zone, next?.state ?? null);
    if (!next) return;
    const rate = zoneRate(next.state, next.ready + next.notReady, this.#rates);
    this.queues.get(zone)?.swapLimiter(now, rate);
  }
}
