// Devices of dynamic resource allocation as the engine takes them: slices, taint rules and claims.
// Times in milliseconds, what is left out null. Source: the types of resource.k8s.io/v1.
import type { Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import type { Toleration } from '../model/toleration.ts';

/** Names one device in the whole cluster. */
export interface DeviceId {
  /** Name of the DRA driver: `gpu.example.com`. */
  readonly driver: string;
  /** Name of the pool, often that of the node. */
  readonly pool: string;
  /** Name of the device in its pool. */
  readonly device: string;
}

/** A device that its driver publishes. */
export interface PublishedDevice {
  /** Name of the device in its pool. */
  readonly name: string;
  /** Taints that the driver publishes. */
  readonly taints: readonly Taint[];
}

/** A ResourceSlice: a part of the devices of one pool. */
export interface ResourceSlice {
  /** metadata.name. */
  readonly name: string;
  /** spec.driver. */
  readonly driver: string;
  /** spec.pool.name. */
  readonly pool: string;
  /** spec.pool.generation: only slices of the highest of its pool count. */
  readonly generation: number;
  /** spec.devices. */
  readonly devices: readonly PublishedDevice[];
}

/** spec.deviceSelector of a DeviceTaintRule; null: every one. */
export interface DeviceSelector {
  /** Name of the driver. */
  readonly driver: string | null;
  /** Name of the pool. */
  readonly pool: string | null;
  /** Name of the device. */
  readonly device: string | null;
}

/** The condition EvictionInProgress of a DeviceTaintRule, as kube-controller-manager wrote it. */
export interface EvictionProgress {
  /** `True` while pods remain to be evicted. */
  readonly status: string;
  /** Reason: `PodsPendingEviction`, `NoEffect`. */
  readonly reason: string;
  /** Message for people, with numbers of pods. */
  readonly message: string;
  /** The generation of the rule that it speaks of. */
  readonly observedGeneration: number;
  /** lastTransitionTime; null: absent. */
  readonly transitionAt: Instant | null;
}

/** A DeviceTaintRule: taints devices independently of their driver. */
export interface DeviceTaintRule {
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
  /** metadata.generation: raised by each change of its spec. */
  readonly generation: number;
  /** Null: it has none and selects nothing; one of nulls alone (`{}`) selects every device. */
  readonly selector: DeviceSelector | null;
  /** The members of its selector that cannot be evaluated here; left out: there are none. */
  readonly unreadSelection?: readonly string[];
  /** spec.taint. */
  readonly taint: Taint;
  /** Null: not written, as where kube-controller-manager does not act on rules. */
  readonly progress: EvictionProgress | null;
}

/** A device that was allocated to a claim, by status.allocation.devices.results[]. */
export interface AllocatedDevice extends DeviceId {
  /** Name of the request in the claim; `REQUEST/SUBREQUEST` for one of `firstAvailable`. */
  readonly request: string;
  /** Copied from the request when it was allocated; immutable while it is allocated. */
  readonly tolerations: readonly Toleration[];
}

/** A ResourceClaim. */
export interface ResourceClaim {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
  /** The uid of its controller: the pod that it was made for from a template; null: it has none. */
  readonly ownerUid: string | null;
  /** Null: not allocated. */
  readonly allocated: readonly AllocatedDevice[] | null;
  /** The uids of status.reservedFor: who may use it. */
  readonly reservedFor: readonly string[];
}

/** The kinds that a verdict about devices needs the right to read. */
export type DeviceResource = 'resourceclaims' | 'resourceslices' | 'devicetaintrules';

/** The events about devices: the objects, and those that may not be read. */
export type DeviceEvent =
  | { readonly kind: 'resourceSliceUpsert'; readonly slice: ResourceSlice }
  | { readonly kind: 'resourceSliceDelete'; readonly name: string }
  | { readonly kind: 'deviceTaintRuleUpsert'; readonly rule: DeviceTaintRule }
  | { readonly kind: 'deviceTaintRuleDelete'; readonly name: string }
  | { readonly kind: 'resourceClaimUpsert'; readonly claim: ResourceClaim }
  | { readonly kind: 'resourceClaimDelete'; readonly namespace: string; readonly name: string }
  /** The resources that cannot be read; empty before the first such event. */
  | { readonly kind: 'deviceRights'; readonly hidden: readonly DeviceResource[] };

/** The pods among the events of the engine, which `Devices` takes as well. */
export type ClaimingPodEvent =
  | { readonly kind: 'podUpsert'; readonly pod: Pod }
  | { readonly kind: 'podDelete'; readonly uid: string };

/** Writes `driver/pool/device`. The pool may have slashes in its name, the others have none. */
export function formatDevice({ driver, pool, device }: DeviceId): string {
  return `${driver}/${pool}/${device}`;
}

/** Reads `driver/pool/device`. Throws RangeError for anything else. */
export function parseDevice(text: string): DeviceId {
  const [first, last] = [text.indexOf('/'), text.lastIndexOf('/')];
  const driver = text.slice(0, Math.max(0, first));
  const [pool, device] = [text.slice(first + 1, Math.max(0, last)), text.slice(last + 1)];
  if (driver === '' || pool === '' || device === '') {
    throw new RangeError(`invalid device "${text}": want driver/pool/device`);
  }
  return { driver, pool, device };
}

/** True when a rule with this selector taints the device, published or not. */
export function selectsDevice(selector: DeviceSelector | null, id: DeviceId): boolean {
  if (!selector) return false;
  const { driver, pool, device } = selector;
  return (
    (driver === null || driver === id.driver) &&
    (pool === null || pool === id.pool) &&
    (device === null || device === id.device)
  );
}

/** True for `{}`: every device of every driver. */
export function selectsAllDevices(selector: DeviceSelector | null): boolean {
  return selector !== null && Object.values(selector).every((part) => part === null);
}
