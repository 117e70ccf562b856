// The taints of a pod's devices as a second source of its deadlines, beside the taints of its node.

import type { Devices } from '../devices/devices.ts';
import type { DeviceCause, DeviceHit } from '../devices/verdict.ts';
import type { Pod, PodClaim } from '../model/pod.ts';
import type { Toleration } from '../model/toleration.ts';
import type { PolicyMark } from '../policy/eviction-policy.ts';
import type { Reason, TaintedDevice } from './reason.ts';
import type { ObservedTaint } from './taint-clock.ts';

/** A NoExecute taint of a device that a pod may use. */
export type TaintHit = DeviceHit & Pick<PodClaim, 'origin'>;

/** The NoExecute taints of the devices of a pod. */
export function taintHitsOn(devices: Devices | null, pod: Pod): readonly TaintHit[] {
  if (!devices || !pod.claims) return [];
  return devices.hitsOn(pod).filter(({ taint }) => taint.effect === 'NoExecute');
}

/** The device as reasons name it. */
export function taintedDevice({ device, claim, source }: TaintHit): TaintedDevice {
  return { device, claim, source };
}

/**
 * Since when the taint counts: by timeAdded alone, as DeviceToleration.tolerationSeconds is
 * documented, even in the future: a client that moves it later gives all pods that time. The API
 * server leaves it out of none.
 */
export function observedOf({ taint }: TaintHit): ObservedTaint {
  const start = taint.timeAdded ?? 0;
  return { taint, start, startSource: 'timeAdded', seenAt: start };
}

/**
 * True where kube-controller-manager's behavior has to be kept, and it overlooks the claim
 * (k/k#141290).
 */
export function isOverlooked({ origin }: TaintHit, by: PolicyMark | null): boolean {
  return origin === 'extended' && by?.action === 'KubeControllerManager';
}

/**
 * The toleration that counts; null: none. A toleration that names no effect tolerates every effect,
 * without limit, as the API defines: its seconds count with NoExecute alone.
 * kube-controller-manager ignores it.
 */
export function deviceToleration(hit: TaintHit, by: PolicyMark | null): Toleration | null {
  if (by?.action === 'KubeControllerManager' || hit.wait === null) return hit.toleration;
  return hit.unheeded ? { ...hit.unheeded, tolerationSeconds: null } : hit.toleration;
}

/** Turns the cause of an eviction for a device into a reason. */
export function reasonOfCause({ taint, toleration, at, ...hit }: DeviceCause): Reason {
  const { device, claim, source } = hit;
  const counts = { start: taint.timeAdded ?? 0, startSource: 'timeAdded', deadline: at } as const;
  const what = { taint, device: { device, claim, source }, ...counts };
  return toleration
    ? { code: 'TolerationExpires', ...what, toleration }
    : { code: 'NoToleration', ...what };
}
