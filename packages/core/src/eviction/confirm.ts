import {
  type DeviceId,
  type DeviceTaintRule,
  formatDevice,
  type ResourceClaim,
  type ResourceSlice,
  selectsDevice,
} from '../devices/device.ts';
import { describeTaintSource } from '../devices/words.ts';
import type { Node } from '../model/node.ts';
import type { Pod, PodRef } from '../model/pod.ts';
import { formatTaint, type Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../model/toleration.ts';
import type { WorkingDrain } from '../model/working-drain.ts';
import type { Reason, TaintedDevice } from './reason.ts';

/** Options of a second look at pod and node. */
interface ConfirmOptions extends MatchOptions {
  /** WorkingDrains at work on the node are no reason to leave its pods; left out: they are. */
  readonly ignoresDrains?: boolean;
}

/**
 * Compares the decision about a pod with pod and node as they are read again; null when it still
 * holds, else what has changed. For programs that carry out an eviction on a view that is not
 * fresh.
 */
export function confirmEviction(
  because: readonly Reason[],
  pod: Pod,
  node: Node | null,
  options: ConfirmOptions,
): string | null {
  const [decisive] = because;
  if (decisive?.code !== 'NoToleration' && decisive?.code !== 'TolerationExpires') return null;
  if (!node) return `node ${pod.nodeName} is gone`;
  const name = formatTaint(decisive.taint);
  const taint = node.taints.find((one) => formatTaint(one) === name);
  if (!taint) return `node ${node.name} has no taint ${name} any more`;
  if (!Object.is(taint.timeAdded, decisive.taint.timeAdded)) {
    return `the taint ${name} of node ${node.name} was added at another time`;
  }
  const drain = node.drains?.find((one) => one.taint === name);
  if (drain && !options.ignoresDrains && !isStale(drain, decisive)) {
    return `drain ${drain.id} evicts for ${name} on node ${node.name}`;
  }
  const asDecided = decisive.asExecuted ? { ...taint, effect: 'NoExecute' } : taint;
  const toleration = decidingToleration(pod.tolerations, asDecided, options);
  // The pod does not have the time that a policy gives it.
  const isOwn = decisive.code === 'TolerationExpires' && !decisive.given;
  const expected = isOwn ? decisive.toleration : null;
  const same = toleration?.tolerationSeconds === expected?.tolerationSeconds;
  return same ? null : `the pod tolerates ${name} differently now`;
}

/**
 * The source of a device taint as read again; null: it is gone, or not what has put the taint on.
 */
export interface DeviceSources {
  /** The ResourceClaim that allocates the device. */
  readonly claim: ResourceClaim | null;
  /** The DeviceTaintRule that taints the device. */
  readonly rule: DeviceTaintRule | null;
  /** The ResourceSlice that publishes the device. */
  readonly slice: ResourceSlice | null;
}

/** A pod that goes for the taint of a device. */
interface TaintedPod {
  readonly pod: PodRef;
  readonly tainted: TaintedDevice;
  readonly taint: Taint;
}

/**
 * Compares the taint of a device for which a pod goes with its source as it is read again; null
 * when it still holds, else what has changed. The toleration cannot have changed: allocations are
 * immutable.
 */
export function confirmDeviceTaint(
  { pod, tainted, taint }: TaintedPod,
  { claim, rule, slice }: DeviceSources,
): string | null {
  const { device, source } = tainted;
  if (!claim) return `claim ${tainted.claim} is gone`;
  if (!claim.reservedFor.includes(pod.uid))
    return `claim ${claim.name} is not reserved for the pod`;
  const isHeld = claim.allocated?.some((one) => formatDevice(one) === formatDevice(device));
  const name = formatDevice(device);
  if (!isHeld) return `claim ${claim.name} does not hold device ${name} any more`;
  const taints = rule ? ofRule(rule, device) : ofSlice(slice, device);
  const text = formatTaint(taint);
  // A device may carry a taint several times: drivers are not prevented from that.
  const found = taints.filter((one) => formatTaint(one) === text);
  if (found.length === 0)
    return `device ${name} is not tainted ${text} by ${describeTaintSource(source)} any more`;
  const isSame = found.some(({ timeAdded }) => Object.is(timeAdded, taint.timeAdded));
  return isSame ? null : `the taint ${text} of device ${name} was added at another time`;
}

function ofRule({ selector, taint }: DeviceTaintRule, device: DeviceId): readonly Taint[] {
  return selectsDevice(selector, device) ? [taint] : [];
}

function ofSlice(
  slice: ResourceSlice | null,
  { driver, pool, device }: DeviceId,
): readonly Taint[] {
  if (slice?.driver !== driver || slice.pool !== pool) return [];
  return slice.devices.find(({ name }) => name === device)?.taints ?? [];
}

/** True when the drain was known, and has given no sign of life since. */
function isStale(
  { id, heartbeat }: WorkingDrain,
  { staleDrain }: { readonly staleDrain?: WorkingDrain },
): boolean {
  return id === staleDrain?.id && heartbeat === staleDrain.heartbeat;
}
