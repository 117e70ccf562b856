import { formatAmount, type Quantity, quantityValue, zero } from '../model/quantity.ts';
import type { PressureBehaviour } from './behaviours.ts';
import { isAmount, type PodUsage } from './observation/observation.ts';
import { containerStorage } from './observation/usage.ts';
import { hasPodLevelResources, quantityIn } from './pods/demand.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import type { RankedPod } from './rank.ts';
import { formatThresholdAmount } from './settings/thresholds.ts';
import { isInBytes, type PressureResource, signals } from './signals.ts';
import type { ThresholdState } from './threshold-states.ts';

// The messages of a kubelet about a pod that it evicts, in its own words down to the blanks at their ends.

/** The message of a kubelet that evicts, and the notes on its Event. */
export interface EvictionText {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Blame {
  readonly name: string;
  readonly usage: string;
  readonly text: string;
}

/** The message about a pod that goes because of a threshold. */
export function pressureText(
  { pod, usage }: RankedPod,
  due: ThresholdState,
  behaviour: PressureBehaviour,
): EvictionText {
  const { resource } = signals[due.threshold.signal];
  const opening = `The node was low on resource: ${resource}. ${thresholdText(due)}`;
  if (!usage) return { message: opening, annotations: {} };
  const ofPod = resource === 'memory' ? podBlame(pod, usage, behaviour) : null;
  const containers = containerBlames(pod, usage, resource);
  return {
    message: [opening, ofPod?.text ?? '', ...containers.map(({ text }) => text)].join(''),
    annotations: {
      offending_containers: containers.map(({ name }) => name).join(),
      offending_containers_usage: containers.map(({ usage }) => usage).join(),
      starved_resource: resource,
      ...(ofPod && { offending_pod: ofPod.name, offending_pod_usage: ofPod.usage }),
    },
  };
}

function thresholdText({ threshold, sample }: ThresholdState): string {
  if (!sample) return '';
  const quantity = formatThresholdAmount(threshold.value, sample.capacity);
  const format = isInBytes(threshold.signal) ? 'BinarySI' : 'DecimalSI';
  const available = formatAmount(sample.available, format);
  return `Threshold quantity: ${quantity}, available: ${available}. `;
}

/** A kubelet blames a pod whose memory is asked for as a whole, even where it uses less. */
function podBlame(pod: PressurePod, usage: PodUsage, behaviour: PressureBehaviour): Blame | null {
  const request = hasPodLevelResources(pod) ? readable(pod.resources?.requests, 'memory') : null;
  const { workingSetBytes: used } = usage;
  if (!request || !isAmount(used)) return null;
  if (behaviour.blamesExcessOnly && used <= quantityValue(request)) return null;
  return blame('Pod', pod.name, used, request, 'memory');
}

function containerBlames(
  pod: PressurePod,
  usage: PodUsage,
  resource: PressureResource,
): readonly Blame[] {
  const known = [...pod.containers, ...pod.initContainers];
  return usage.containers.flatMap((container): readonly Blame[] => {
    const found = known.find(({ name }) => name === container.name);
    const used = usedBy(container, resource);
    if (!found || used === null) return [];
    const request = readable(found.requests, resource) ?? zero;
    return used > quantityValue(request)
      ? [blame('Container', found.name, used, request, resource)]
      : [];
  });
}

/** Null for what containers are not blamed for, or is not wholly known. */
function usedBy(
  container: PodUsage['containers'][number],
  resource: PressureResource,
): number | null {
  if (resource === 'memory') {
    return isAmount(container.workingSetBytes) ? container.workingSetBytes : null;
  }
  if (resource !== 'ephemeral-storage') return null;
  const isKnown = isAmount(container.rootfs.usedBytes) && isAmount(container.logs.usedBytes);
  return isKnown ? containerStorage(container, true) : null;
}

function blame(
  kind: 'Pod' | 'Container',
  name: string,
  used: number,
  request: Quantity,
  resource: PressureResource,
): Blame {
  const usage = formatAmount(used);
  const compared = `${kind} ${name} was using ${usage}, request is ${request.text}`;
  return { name, usage, text: `${compared}, has larger consumption of ${resource}. ` };
}

/** A text that is no quantity is left out. */
function readable(
  list: Parameters<typeof quantityIn>[0],
  resource: PressureResource,
): Quantity | null {
  try {
    return quantityIn(list, resource);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
