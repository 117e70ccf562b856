import {
  addQuantities,
  parseQuantity,
  type Quantity,
  quantityValue,
} from '../../model/quantity.ts';
import type {
  PressureContainer,
  PressurePod,
  ResourceList,
  ResourceRequirements,
} from './pressure-pod.ts';

/** The limits of a pod on local storage, in the order in which they are looked at. */
export interface LocalLimits {
  readonly emptyDirs: readonly { readonly name: string; readonly limit: Quantity }[];
  readonly pod: Quantity | null;
  readonly containers: readonly { readonly name: string; readonly limit: Quantity }[];
}

/** The requests and limits of a pod, computed once. */
export interface Demand {
  /** Bytes. */
  readonly memory: number;
  /** Bytes on local disks, as a kubelet reckons them. */
  readonly storage: number;
  /** The same from the containers, where spec.resources hides them from a kubelet. */
  readonly containersStorage: number;
  readonly qosClass: QosClass;
  /** Null: none, as for most pods. */
  readonly limits: LocalLimits | null;
}

/** Reckons the demand; null for a pod with an invalid quantity, which no API server keeps. */
export function demandOf(pod: PressurePod): Demand | null {
  try {
    return {
      memory: amount(podRequest(pod, 'memory')),
      storage: amount(podRequest(pod, 'ephemeral-storage')),
      containersStorage: amount(containersRequest(pod, 'ephemeral-storage')),
      qosClass: qosClassOf(pod),
      limits: localLimits(pod),
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function amount(quantity: Quantity | null): number {
  return quantity ? quantityValue(quantity) : 0;
}

function localLimits(pod: PressurePod): LocalLimits | null {
  const emptyDirs = pod.volumes.flatMap(({ name, kind, sizeLimit }) => {
    if (kind !== 'emptyDir' || sizeLimit === undefined) return [];
    const limit = parseQuantity(sizeLimit);
    return limit.nanos > 0n ? [{ name, limit }] : [];
  });
  const containers = pod.containers.flatMap(({ name, limits }) => {
    const limit = quantityIn(limits, 'ephemeral-storage');
    return limit && limit.nanos !== 0n ? [{ name, limit }] : [];
  });
  const ofPod = storageLimit(pod);
  const none = emptyDirs.length === 0 && containers.length === 0 && ofPod === null;
  return none ? null : { emptyDirs, pod: ofPod, containers };
}

/** The QoS class of a pod; admission and the older order of eviction go by it. */
type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

/** Every class, the first to go first. */
export const qosClasses: readonly QosClass[] = ['BestEffort', 'Burstable', 'Guaranteed'];

const counted = ['cpu', 'memory'] as const;

/** The class that the API server wrote down, else the computed one. */
export function qosClassOf(pod: PressurePod): QosClass {
  return qosClasses.find((name) => name === pod.qosClass) ?? computeQosClass(pod);
}

/**
 * The class of a pod: Guaranteed when cpu and memory are limited everywhere and nothing less than
 * the limits is asked for, BestEffort when neither is asked for or limited anywhere. Values of
 * spec.resources hold for all containers. Throws RangeError for an invalid quantity.
 */
export function computeQosClass(pod: PressurePod): QosClass {
  const parts = pod.resources ? [pod.resources] : [...pod.containers, ...pod.initContainers];
  const requests = sums(parts.map((part) => part.requests));
  const limits = sums(parts.map((part) => part.limits));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isGuaranteed =
    parts.every((part) => isLimited(part, pod.resources !== null)) &&
    requests.size === limits.size &&
    [...requests].every(([name, amount]) => limits.get(name) === amount);
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** Without any limit of the pod as a whole nothing equals its requests, so it does not matter. */
function isLimited({ limits }: ResourceRequirements, isPodLevel: boolean): boolean {
  if (isPodLevel && Object.keys(limits ?? {}).length === 0) return true;
  return sums([limits]).size === counted.length;
}

/** The amounts that are more than none, in billionths. */
function sums(lists: readonly (ResourceList | undefined)[]): ReadonlyMap<string, bigint> {
  const total = new Map<string, bigint>();
  for (const list of lists) {
    for (const name of counted) {
      const nanos = quantityIn(list, name)?.nanos ?? 0n;
      if (nanos > 0n) total.set(name, (total.get(name) ?? 0n) + nanos);
    }
  }
  return total;
}

/** The resources whose requests count. */
type RequestedResource = 'memory' | 'ephemeral-storage';

const podLevelResources = /^(?:cpu|memory|hugepages-.*)$/;

/**
 * True when spec.resources says anything that holds for the pod as a whole. A kubelet then looks at
 * no container, not even for what spec.resources cannot say.
 */
export function hasPodLevelResources({ resources }: PressurePod): boolean {
  const { requests, limits } = resources ?? {};
  return Object.keys({ ...requests, ...limits }).some((name) => podLevelResources.test(name));
}

/**
 * The request of a pod: the sum over its containers, or the need of an init container beside the
 * sidecars started before it, the larger of the two; and the overhead. Null: nothing. Throws
 * RangeError for an invalid quantity.
 */
function podRequest(pod: PressurePod, resource: RequestedResource): Quantity | null {
  const request = hasPodLevelResources(pod)
    ? quantityIn(pod.resources?.requests, resource)
    : sumOfContainers(pod, 'requests', resource);
  return withOverhead(pod, request, resource);
}

/** The same, from the containers alone where spec.resources cannot say it. */
function containersRequest(pod: PressurePod, resource: RequestedResource): Quantity | null {
  return withOverhead(pod, sumOfContainers(pod, 'requests', resource), resource);
}

/** The limit of a pod on local storage, reckoned in the same way; null: none. */
function storageLimit(pod: PressurePod): Quantity | null {
  const limit = sumOfContainers(pod, 'limits', 'ephemeral-storage');
  return withOverhead(pod, limit, 'ephemeral-storage');
}

/** Returns one quantity of a list; null where absent. Throws RangeError for an invalid one. */
export function quantityIn(list: ResourceList | undefined, resource: string): Quantity | null {
  const text = list && Object.hasOwn(list, resource) ? list[resource] : undefined;
  return text === undefined ? null : parseQuantity(text);
}

function sumOfContainers(
  { containers, initContainers }: PressurePod,
  field: keyof ResourceRequirements,
  resource: RequestedResource,
): Quantity | null {
  const amountIn = (container: PressureContainer) => quantityIn(container[field], resource);
  let sidecars: Quantity | null = null;
  let starting: Quantity | null = null;
  for (const container of initContainers) {
    const needed: Quantity | null = sum(sidecars, amountIn(container));
    if (container.sidecar) sidecars = needed;
    starting = larger(starting, needed);
  }
  const running = containers.map(amountIn).reduce(sum, null);
  return larger(sum(running, sidecars), starting);
}

function withOverhead(
  { overhead }: PressurePod,
  amount: Quantity | null,
  resource: RequestedResource,
): Quantity | null {
  return amount && amount.nanos !== 0n ? sum(amount, quantityIn(overhead, resource)) : amount;
}

function sum(a: Quantity | null, b: Quantity | null): Quantity | null {
  return a && b ? addQuantities(a, b) : (a ?? b);
}

function larger(a: Quantity | null, b: Quantity | null): Quantity | null {
  if (!a || !b) return a ?? b;
  return b.nanos > a.nanos ? b : a;
}
