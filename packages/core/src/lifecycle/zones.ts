// The state of each zone, counted from its nodes, and the rate that it allows.
import type { Labels } from '../model.ts';

/** How a zone is doing. `Initial`: not looked at yet. */
export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** What the nodes that count in a zone look like. */
export interface ZoneCensus {
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

const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';
const zoneLabel = 'topology.kubernetes.io/zone';
const regionLabel = 'topology.kubernetes.io/region';
const partialMin = 3;

/** Region and zone of a node: an old label that is there counts before the new one. */
function placeOf(labels: Labels): readonly [region: string, zone: string] {
  return [
    labels[betaRegion] ?? labels[regionLabel] ?? '',
    labels[betaZone] ?? labels[zoneLabel] ?? '',
  ];
}

/** `region/zone`, or what there is of it: the zone of a node for people. */
export function zoneName(labels: Labels): string {
  return placeOf(labels)
    .filter((part) => part !== '')
    .join('/');
}

/** The zone as kube-controller-manager's metrics have it: `region:\0:zone`, or empty. */
export function zoneKey(labels: Labels): string {
  const [region, zone] = placeOf(labels);
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

/** The state of a zone. Shares are compared as 32-bit floats, as kube-controller-manager does. */
export function zoneState({ ready, notReady }: ZoneCensus, threshold: number): ZoneState {
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
