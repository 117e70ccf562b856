// Says why a pod goes, or does not, for the taints of its devices.
import { formatDuration, formatTime } from '../kernel/time.ts';
import { formatTaint } from '../model/taint.ts';
import { formatDevice } from './device.ts';
import type { DeviceCause, DeviceHit, DeviceReason, DeviceTaintSource } from './verdict.ts';

/**
 * Describes a cause: `device gpu.example.com/n1/gpu-0 of claim gpu is tainted ecc=bad:NoExecute by
 * DeviceTaintRule ecc since ...`.
 */
export function describeDeviceCause(cause: DeviceCause): string {
  return `${taintedText(cause)}; ${describeDevicePatience(cause)}`;
}

/** Describes one reason in words, as tables and logs print it. */
export function describeDeviceReason(reason: DeviceReason): string {
  switch (reason.code) {
    case 'NoClaims':
      return 'it uses no ResourceClaim';
    case 'NotKnown':
      return reason.rule === undefined
        ? `unknown: no permission to read ${listText(reason.lacks)}`
        : unreadRuleText(reason.rule);
    case 'NotBound':
      return `not bound to a node${onceText('it is bound', reason.causes)}`;
    case 'ExtendedResource':
      return `claim ${reason.claim} was made for an extended resource: Kubernetes up to 1.37 does not evict for its devices${inSpiteText(reason.causes)}`;
    case 'ToleratedForever':
      return `claim ${reason.hit.claim} tolerates ${formatTaint(reason.hit.taint)} of device ${formatDevice(reason.hit.device)} without limit`;
    case 'OtherEffect':
      return otherEffectText(reason.hit);
    case 'NotReserved':
      return `claim ${reason.claim} is not reserved for it${inSpiteText(reason.causes)}`;
    case 'NotItsOwn':
      return `claim ${reason.claim} was made for another pod${inSpiteText(reason.causes)}`;
    case 'NotAllocated':
      return `claim ${reason.claim} is not allocated`;
    case 'ClaimMissing':
      return reason.claim === null
        ? `no ResourceClaim has been made for its claim ${reason.podClaim}`
        : `claim ${reason.claim} does not exist`;
    case 'NotTainted':
      return 'its devices have no taint';
  }
}

/** Kubernetes 1.33 and 1.34 have such rules. */
export function unreadRuleText(rule: string): string {
  return `unknown: DeviceTaintRule ${rule} selects by class or by CEL, and which devices these are cannot be told here`;
}

/**
 * Names the source of a taint: `DeviceTaintRule gpu-0-ecc`, `its driver in ResourceSlice n1-gpu-x7
 * (#0)`.
 */
export function describeTaintSource(source: DeviceTaintSource): string {
  return source.kind === 'rule'
    ? `DeviceTaintRule ${source.name}`
    : `its driver in ResourceSlice ${source.name} (#${source.index})`;
}

function taintedText({ device, claim, taint, source }: DeviceHit): string {
  const since = taint.timeAdded === null ? '' : ` since ${formatTime(taint.timeAdded)}`;
  return `device ${formatDevice(device)} of claim ${claim} is tainted ${formatTaint(taint)} by ${describeTaintSource(source)}${since}`;
}

/**
 * Describes for how long the claim tolerates the taint, and why for no longer: `the claim does not
 * tolerate it`.
 */
export function describeDevicePatience({
  toleration,
  unheeded,
  overflows,
  wait,
}: DeviceCause): string {
  if (overflows && toleration) {
    const { tolerationSeconds } = toleration;
    return `the claim tolerates it for ${tolerationSeconds} s, which is more than Kubernetes can count: taken for ${formatDuration(wait)}`;
  }
  if (toleration) return `the claim tolerates it for ${formatDuration(wait)}`;
  if (!unheeded) return 'the claim does not tolerate it';
  const key = unheeded.key === '' ? 'every key' : unheeded.key;
  return `the claim's toleration of ${key} names no effect; only NoExecute counts here, while the scheduler takes it for all effects`;
}

function otherEffectText(hit: DeviceHit): string {
  const { source, taint, wait } = hit;
  const has = `${source.kind === 'rule' ? `rule ${source.name}` : describeTaintSource(source)} taints its device ${formatDevice(hit.device)} ${formatTaint(taint)}`;
  if (wait === null) return `${has}; NoExecute would not evict it either`;
  const when = wait > 0 ? `${formatDuration(wait)} later` : 'at once';
  return `${has}${taint.effect === 'None' ? ' (a preview)' : ''}; NoExecute would evict it ${when}`;
}

function onceText(condition: string, [first]: readonly DeviceCause[]): string {
  return first ? `; once ${condition}: ${describeDeviceCause(first)}` : '';
}

function inSpiteText([first]: readonly DeviceCause[]): string {
  return first ? `, though ${taintedText(first)}` : '';
}

function listText(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
