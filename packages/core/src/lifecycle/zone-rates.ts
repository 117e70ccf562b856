// The state of each zone, counted from its nodes, and the rate that it allows.
/** How a zone is doing. `Initial`: not looked at yet. */
export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** What the nodes that count in a zone look like. */
export interface ZoneCounts {
  readonly ready: number;
  readonly notReady: number;
}

/** How fast nodes of a zone are tainted, in nodes a second, and from which share on slower. */
export interface ZoneRates {
  readonly nodeEvictionRate: number;
  readonly secondaryNodeEvictionRate: number;
  /** A zone has to have more nodes than this for the secondary rate. */
  readonly largeClusterSizeThreshold: number;
  /** Share of nodes that are not ready, 0 to 1. */
  readonly unhealthyZoneThreshold: number;
}

const partialMin = 3;

/** The state of a zone. Shares are compared as 32-bit floats, as kube-controller-manager does. */
export function zoneState({ ready, notReady }: ZoneCounts, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  const share = Math.fround(Math.fround(notReady) / Math.fround(ready + notReady));
  const isPartial = notReady >= partialMin && share >= Math.fround(threshold);
  return isPartial ? 'PartialDisruption' : 'Normal';
}

/** How many nodes of a zone in this state are tainted a second; 0: none. */
export function zoneRate(state: ZoneState, size: number, rates: ZoneRates): number {
  if (state !== 'PartialDisruption') return rates.nodeEvictionRate;
  return size > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}
