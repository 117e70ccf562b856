// Decides about one pod, for the taints of its devices: it stays, or it goes at an instant. The rules are those of
// kube-controller-manager 1.36.2's device-taint-eviction-controller.
import type { Instant, Millis } from '../kernel/time.ts';
import type { Taint } from '../model/taint.ts';
import type { Toleration } from '../model/toleration.ts';
import type { AllocatedDevice, DeviceId, DeviceResource } from './device.ts';

/** Where the taint of a device stands; `index`: among the taints of its device. */
export type DeviceTaintSource =
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'slice'; readonly name: string; readonly index: number };

/** A taint that a device has, and who has put it there. */
export interface DeviceTaint {
  /** The taint. */
  readonly taint: Taint;
  /** The driver, or the DeviceTaintRule. */
  readonly source: DeviceTaintSource;
}

/** A taint of a device that a pod uses, and the claim's say about it. */
export interface DeviceHit extends DeviceTaint {
  /** The device. */
  readonly device: DeviceId;
  /** The ResourceClaim, in the namespace of the pod. */
  readonly claim: string;
  /** The pod's own name for the claim. */
  readonly podClaim: string;
  /** Name of the request that allocated the device. */
  readonly request: string;
  /** The toleration that counts against NoExecute: the shortest, or one without limit; null: none. */
  readonly toleration: Toleration | null;
  /** The time it is tolerated for, as kube-controller-manager computes it; null: without limit. */
  readonly wait: Millis | null;
  /**
   * True when its seconds are too many for int64 nanoseconds, so that `wait` is something else.
   * Seconds beyond 2^53 come rounded from JSON: then `wait` is unknown.
   */
  readonly overflows: boolean;
  /**
   * A toleration without an effect that matches: the scheduler applies it, the eviction does not.
   */
  readonly unheeded: Toleration | null;
}

/** A taint for which a pod has to go. A taint that does not say since when counts as there for ever. */
export interface DeviceCause extends DeviceHit {
  /** The time that the claim tolerates the taint; 0: none. */
  readonly wait: Millis;
  /** The deadline of the pod. */
  readonly at: Instant;
}

/** The reason why a pod is not removed for its devices. */
export type DeviceReason =
  /** As nearly all pods. */
  | { readonly code: 'NoClaims' }
  /**
   * Without the right to read these the verdict is unknown; `rule`: a rule that may or may not
   * select its devices.
   */
  | {
      readonly code: 'NotKnown';
      readonly lacks: readonly DeviceResource[];
      readonly rule?: string;
    }
  /** `causes`: what makes it go once it is bound. */
  | { readonly code: 'NotBound'; readonly causes: readonly DeviceCause[] }
  /** Its device came as an extended resource; kube-controller-manager up to 1.37 overlooks such claims. */
  | {
      readonly code: 'ExtendedResource';
      readonly claim: string;
      readonly causes: readonly DeviceCause[];
    }
  | { readonly code: 'ToleratedForever'; readonly hit: DeviceHit }
  /** Effect None, a preview, or NoSchedule: `hit.wait` is what NoExecute would give it from then on. */
  | { readonly code: 'OtherEffect'; readonly hit: DeviceHit }
  /** The claim does not name it in reservedFor; `causes`: what is wrong with the claim's devices. */
  | {
      readonly code: 'NotReserved';
      readonly claim: string;
      readonly causes: readonly DeviceCause[];
    }
  /** Made from a template, and this pod does not control it. */
  | { readonly code: 'NotItsOwn'; readonly claim: string; readonly causes: readonly DeviceCause[] }
  | { readonly code: 'NotAllocated'; readonly claim: string }
  /** `claim`: null when it will be made from a template, and the pod's status names none. */
  | { readonly code: 'ClaimMissing'; readonly podClaim: string; readonly claim: string | null }
  /** Its devices have no taint. */
  | { readonly code: 'NotTainted' };

/** The word that tells reasons apart. */
export type DeviceReasonCode = DeviceReason['code'];

/**
 * The verdict on a pod, for its devices alone. A pod that terminates or has finished is judged as
 * any other: kube-controller-manager deletes a finished one while its claim is reserved for it, and
 * leaves a terminating one.
 */
export type DeviceVerdict =
  | {
      readonly at: Instant;
      /** The earliest first. */
      readonly causes: readonly [DeviceCause, ...(readonly DeviceCause[])];
      /** The resources that could not be read: one of them may make the pod leave earlier. */
      readonly lacks: readonly DeviceResource[];
    }
  /** The most telling first, at least one. */
  | { readonly at: null; readonly because: readonly [DeviceReason, ...(readonly DeviceReason[])] };

const nanosPerSecond = 1_000_000_000n;
const nanosPerMilli = 1_000_000;
const int64Max = 2n ** 63n - 1n;
/** The last number of seconds whose nanoseconds int64 holds. */
const secondsMax = 9_223_372_036;

/**
 * Judges one taint by the tolerations of an allocation, as if the taint's effect were NoExecute.
 */
export function judgeTaint(
  { tolerations }: AllocatedDevice,
  taint: Taint,
): Pick<DeviceHit, 'toleration' | 'wait' | 'overflows' | 'unheeded'> {
  let shortest: { readonly toleration: Toleration; readonly seconds: bigint } | null = null;
  let unheeded: Toleration | null = null;
  for (const toleration of tolerations) {
    if (!matches(toleration, taint)) continue;
    if (toleration.effect === '') unheeded ??= toleration;
    if (toleration.effect !== 'NoExecute') continue;
    if (toleration.tolerationSeconds === null) {
      return { toleration, wait: null, overflows: false, unheeded: null };
    }
    const seconds = int64(toleration.tolerationSeconds);
    if (!shortest || seconds < shortest.seconds) shortest = { toleration, seconds };
  }
  if (!shortest) return { toleration: null, wait: 0, overflows: false, unheeded };
  const { toleration, seconds } = shortest;
  const overflows = seconds > secondsMax;
  const nanos = BigInt.asIntN(64, seconds * nanosPerSecond);
  return { toleration, wait: Math.floor(Number(nanos) / nanosPerMilli), overflows, unheeded };
}

/** Key, operator and value. Other operators than these match nothing, and no effect is looked at. */
function matches({ key, operator, value }: Toleration, taint: Taint): boolean {
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === taint.value;
}

/**
 * Values are never below 0 and never above int64: a number that JSON.parse rounded up was at the
 * limit.
 */
function int64(seconds: number | bigint): bigint {
  if (typeof seconds === 'number' && !(Math.abs(seconds) < 2 ** 63)) {
    return seconds > 0 ? int64Max : 0n;
  }
  const whole = BigInt(typeof seconds === 'number' ? Math.trunc(seconds) : seconds);
  if (whole > int64Max) return int64Max;
  return whole < 0n ? 0n : whole;
}

/** The hit as a cause; null where it makes no pod go. */
export function causeOf(hit: DeviceHit): DeviceCause | null {
  const { wait, taint } = hit;
  if (taint.effect !== 'NoExecute' || wait === null) return null;
  return { ...hit, wait, at: (taint.timeAdded ?? 0) + wait };
}

/** By time; of one time rules come first, then by name. */
export function inCauseOrder(one: DeviceCause, other: DeviceCause): number {
  if (one.at !== other.at) return one.at - other.at;
  const [a, b] = [orderKey(one), orderKey(other)];
  return a < b ? -1 : Number(a > b);
}

function orderKey({ source, device, claim }: DeviceCause): string {
  const index = source.kind === 'slice' ? source.index : 0;
  return [source.kind, source.name, device.device, String(index).padStart(2, '0'), claim].join(' ');
}

/** The order in which reasons are reported: the most serious for the pod first. */
const ranks: readonly DeviceReasonCode[] = [
  ...(['NoClaims', 'NotBound', 'NotKnown', 'ExtendedResource', 'ToleratedForever'] as const),
  ...(['OtherEffect', 'NotReserved', 'NotItsOwn', 'NotAllocated', 'ClaimMissing'] as const),
  'NotTainted',
];

/** The verdict on the finding. */
export function verdictFrom(
  causes: readonly DeviceCause[],
  reasons: readonly DeviceReason[],
  lacks: readonly DeviceResource[],
): DeviceVerdict {
  const [first, ...others] = causes.toSorted(inCauseOrder);
  if (first) return { at: first.at, causes: [first, ...others], lacks };
  const [telling = { code: 'NotTainted' }, ...more] = reasons.toSorted(
    (one, other) => ranks.indexOf(one.code) - ranks.indexOf(other.code),
  );
  return { at: null, because: [telling, ...more] };
}
