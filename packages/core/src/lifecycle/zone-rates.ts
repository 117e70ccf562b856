import type { Instant } from '../kernel/time.ts';

// The state of each zone, counted from its nodes, and the rate that it allows.
/** The state of a zone. `Initial`: not looked at yet. */
export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** The nodes that count in a zone. */
export interface ZoneCounts {
  readonly ready: number;
  readonly notReady: number;
}

/** The rates at which nodes of a zone are tainted, in nodes a second, and from which share on slower. */
export interface ZoneRates {
  readonly nodeEvictionRate: number;
  readonly secondaryNodeEvictionRate: number;
  /** A zone has to have more nodes than this for the secondary rate. */
  readonly largeClusterSizeThreshold: number;
  /** Share of nodes that are not ready, 0 to 1. */
  readonly unhealthyZoneThreshold: number;
}

const partialMin = 3;

/**
 * The state of a zone, as ComputeZoneState of kube-controller-manager decides. Shares are compared
 * as 32-bit floats, as there.
 */
export function zoneState({ ready, notReady }: ZoneCounts, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  const share = Math.fround(Math.fround(notReady) / Math.fround(ready + notReady));
  const isPartial = notReady >= partialMin && share >= Math.fround(threshold);
  return isPartial ? 'PartialDisruption' : 'Normal';
}

/** The number of nodes of a zone in this state that are tainted a second; 0: none. */
export function zoneRate(state: ZoneState, size: number, rates: ZoneRates): number {
  if (state !== 'PartialDisruption') return rates.nodeEvictionRate;
  return size > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}

/**
 * The token bucket of one zone: at most one token is kept. The bucket begins empty, and when a rate
 * comes after none, so that neither a restart nor a zone that wavers taints faster than the rate. A
 * token is spent when a node is tainted and for nothing else.
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

  /** Begins again, without a token. */
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
