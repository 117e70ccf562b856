// What the containers of a pod request together.
import { addQuantities, parseQuantity, type Quantity } from '../../model/quantity.ts';
import type { PressureContainer, PressurePod, ResourceList, ResourceRequirements } from './pod.ts';

/** The resources whose requests count. */
export type RequestedResource = 'memory' | 'ephemeral-storage';

const podLevelResources = /^(?:cpu|memory|hugepages-.*)$/;

/**
 * Whether spec.resources says anything that holds for the pod as a whole. A kubelet then looks at
 * no container, not even for what spec.resources cannot say.
 */
export function hasPodLevelResources({ resources }: PressurePod): boolean {
  const { requests, limits } = resources ?? {};
  return Object.keys({ ...requests, ...limits }).some((name) => podLevelResources.test(name));
}

/**
 * What a pod asks for: the sum over its containers, or what an init container needs beside the
 * sidecars started before it, whichever is more; and the overhead. Null: nothing. Throws
 * RangeError for a quantity that is none.
 */
export function podRequest(pod: PressurePod, resource: RequestedResource): Quantity | null {
  const request = hasPodLevelResources(pod)
    ? quantityIn(pod.resources?.requests, resource)
    : sumOfContainers(pod, 'requests', resource);
  return withOverhead(pod, request, resource);
}

/** The same, from the containers alone where spec.resources cannot say it. */
export function containersRequest(pod: PressurePod, resource: RequestedResource): Quantity | null {
  return withOverhead(pod, sumOfContainers(pod, 'requests', resource), resource);
}

/** The limit of a pod on local storage, reckoned in the same way; null: none. */
export function storageLimit(pod: PressurePod): Quantity | null {
  const limit = sumOfContainers(pod, 'limits', 'ephemeral-storage');
  return withOverhead(pod, limit, 'ephemeral-storage');
}

/** One quantity of a list; null where absent. Throws RangeError for what is none. */
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
