// The demands of a pod's claimed devices on its node.
import {
  claimsOfPod,
  consumersOf,
  podClaimsOf,
  takenDevices,
} from '../controllers/device-claims.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import {
  allocationOf,
  chooseDevices,
  classRefusal,
  SearchError,
  type Supply,
} from './device-allocation.ts';
import { devicePools, reachesNode, type SelectsDevice } from './device-pools.ts';
import { type Filter, rejectedForGood } from './filter.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import type { Objects } from './volume-claims.ts';

const protection = 'resource.kubernetes.io/delete-protection';
const unavailable = rejectedForGood('devices', 'resourceclaim not available on the node');
const tooFew = rejectedForGood('devices', 'cannot allocate all claims');

/** True if a pod claims devices. */
export function claimsDevices({ pod }: Readonly<SchedulingPod>): boolean {
  return podClaimsOf(pod).length > 0;
}

/** True if a pod has to wait for a claim before it is tried. */
export function awaitsClaims(objects: Objects, pod: KubeObject): boolean {
  return podClaimsOf(pod).length > 0 && claimsOfPod(objects, pod) === null;
}

/** Why no node at all can take a pod, in kube-scheduler's words; null: its claims are in order. */
export function devicesRefusal(objects: Objects, { pod }: SchedulingPod): string | null {
  for (const claim of claimsOfPod(objects, pod) ?? []) {
    const refusal = claim.status?.allocation ? null : classRefusal(objects, claim);
    if (refusal !== null) return refusal;
  }
  return null;
}

function supplyOf(objects: Objects, selects: SelectsDevice): Supply {
  const pools = devicePools(objects);
  return { objects, selects, pools, taken: takenDevices(objects), suits: new Map() };
}

/**
 * DynamicResources: the devices that claims have can be used on the node, and there are some for the other
 * claims.
 */
export function deviceFilters(
  objects: Objects,
  { pod }: SchedulingPod,
  selects: SelectsDevice,
): readonly Filter[] {
  if (podClaimsOf(pod).length === 0) return [];
  const claims = claimsOfPod(objects, pod) ?? [];
  const allocated = claims.filter(({ status }) => status?.allocation);
  const waiting = claims.filter(({ status }) => !status?.allocation);
  const supply = waiting.length === 0 ? null : supplyOf(objects, selects);
  return [
    {
      check: ({ offer }) => {
        if (!offer) return null;
        const { node } = offer;
        const isHere = allocated.every(({ status }) => reachesNode(status?.allocation, node));
        if (!isHere) return unavailable;
        if (!supply || chooseDevices(supply, waiting, node)) return null;
        return tooFew;
      },
    },
  ];
}

/** The claims of a pod as they are once it has a node: with devices, and reserved for it. */
export function claimsOnNode(
  objects: Objects,
  pod: KubeObject,
  { node, selects, time }: { node: KubeObject; selects: SelectsDevice; time: string },
): readonly KubeObject[] {
  const { name, uid = '' } = pod.metadata;
  const claims = claimsOfPod(objects, pod) ?? [];
  const waiting = claims.filter(({ status }) => !status?.allocation);
  const chosen =
    waiting.length === 0 ? null : chooseDevices(supplyOf(objects, selects), waiting, node);
  if (waiting.length > 0 && !chosen) {
    throw new SearchError(`no devices are left on ${node.metadata.name}`);
  }
  return claims.flatMap((claim) => {
    const choices = chosen?.get(claim);
    const consumers = consumersOf(claim);
    if (!choices && consumers.some((one) => one.uid === uid)) return [];
    const allocation = choices
      ? allocationOf(objects, claim, choices, time)
      : claim.status?.allocation;
    const { finalizers = [] } = claim.metadata;
    return [
      {
        ...claim,
        metadata: {
          ...claim.metadata,
          finalizers: finalizers.includes(protection) ? finalizers : [...finalizers, protection],
        },
        status: {
          ...claim.status,
          allocation,
          reservedFor: [...consumers, { resource: 'pods', name, uid }],
        },
      },
    ];
  });
}
