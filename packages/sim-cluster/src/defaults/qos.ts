// The QoS class of a pod.
import type { KubeObject } from '../objects/kube-object.ts';
import { quantity } from '../objects/quantity.ts';

type Amounts = Readonly<Record<string, string | number>>;

const countedResources = ['cpu', 'memory'] as const;

/**
 * The quality-of-service class of a PodSpec: Guaranteed when every container limits CPU and
 * memory to what it requests, BestEffort when none asks for either, else Burstable.
 */
export function qosClass(spec: KubeObject['spec']): string {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  let asked = false;
  let guaranteed = true;
  for (const container of containers) {
    const requests: Amounts = container.resources?.requests ?? {};
    const limits: Amounts = container.resources?.limits ?? {};
    for (const name of countedResources) {
      const request = quantity(requests[name] ?? 0);
      const limit = quantity(limits[name] ?? 0);
      if (request > 0 || limit > 0) asked = true;
      if (!(limit > 0) || request !== limit) guaranteed = false;
    }
  }
  if (!asked) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
