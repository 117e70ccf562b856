import { parseQuantity, type Quantity, quantityValue } from '../../model/quantity.ts';
import type { PressurePod } from './pod.ts';
import { type QosClass, qosClassOf } from './qos.ts';
import { containersRequest, podRequest, quantityIn, storageLimit } from './resources.ts';

/** The limits of a pod on local storage, in the order in which they are looked at. */
export interface LocalLimits {
  readonly emptyDirs: readonly { readonly name: string; readonly limit: Quantity }[];
  readonly pod: Quantity | null;
  readonly containers: readonly { readonly name: string; readonly limit: Quantity }[];
}

/** What a pod asks for and what it is limited to, computed once. */
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

/** Reckons the demand; null for a pod with a quantity that is none, which no API server keeps. */
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
