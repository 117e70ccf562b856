import type { PressurePod, ResourceList, ResourceRequirements } from './pod.ts';
import { quantityIn } from './resources.ts';

/** The QoS class of a pod; admission and the older order of eviction go by it. */
export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

/** Every class, the first to go first. */
export const qosClasses: readonly QosClass[] = ['BestEffort', 'Burstable', 'Guaranteed'];

const counted = ['cpu', 'memory'] as const;

/** The class that the API server wrote down, else the computed one. */
export function qosClassOf(pod: PressurePod): QosClass {
  return qosClasses.find((name) => name === pod.qosClass) ?? computeQosClass(pod);
}

/**
 * The class of a pod: Guaranteed when cpu and memory are limited everywhere and nothing less than
 * the limits is asked for, BestEffort when neither is asked for or limited anywhere. What
 * spec.resources says holds for all containers. Throws RangeError for a quantity that is none.
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
