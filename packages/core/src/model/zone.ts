// The zone of a node, by its labels.
import type { Labels } from './selector.ts';

const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';
const zoneLabel = 'topology.kubernetes.io/zone';
const regionLabel = 'topology.kubernetes.io/region';

/** Region and zone of a node, or '': an old label that is there counts before the new one. */
export function nodePlace(labels: Labels): readonly [region: string, zone: string] {
  return [
    labels[betaRegion] ?? labels[regionLabel] ?? '',
    labels[betaZone] ?? labels[zoneLabel] ?? '',
  ];
}

/** `region/zone`, or what there is of it: the zone of a node for people. */
export function zoneName(labels: Labels): string {
  return nodePlace(labels)
    .filter((part) => part !== '')
    .join('/');
}

/** The zone as kube-controller-manager's metrics have it: `region:\0:zone`, or empty. */
export function zoneKey(labels: Labels): string {
  const [region, zone] = nodePlace(labels);
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}
