import { finite, type Instant, type Millis } from '../kernel/time.ts';

/** spec.taints[] of a node. */
export interface Taint {
  /** Key: `node.kubernetes.io/unreachable`. */
  readonly key: string;
  /** Value; '': none. */
  readonly value: string;
  /** NoSchedule, PreferNoSchedule or NoExecute in any object the API server accepted; others match nothing. */
  readonly effect: string;
  /**
   * The time at which the taint was put on; null where it was not written (`kubectl taint` does not
   * write it).
   */
  readonly timeAdded: Instant | null;
}

/** Clocks that are right differ by less. */
const aheadMax: Millis = 5_000;

/**
 * taint.timeAdded as far as it may be believed at `wall` by the cluster's clock: who writes a time
 * that is yet to come has a clock that is wrong. Null: unknown.
 */
export function addedAt({ timeAdded }: Taint, wall: Instant): Instant | null {
  const written = finite(timeAdded);
  return written !== null && written <= wall + aheadMax ? written : null;
}

/** Two taints of a node are the same taint when key and effect agree. */
export type TaintName = Pick<Taint, 'key' | 'effect'>;

/** Two taints are the same taint when key and effect agree. */
export function isSameTaint(one: TaintName, other: TaintName): boolean {
  return one.key === other.key && one.effect === other.effect;
}

/** True when a list holds the taint. */
export function hasTaint(taints: readonly TaintName[], taint: TaintName): boolean {
  return taints.some((other) => isSameTaint(other, taint));
}

/** True when key, value and effect are the same. Another value: a pod may tolerate one and not the other. */
export function isEqualTaint(
  one: Omit<Taint, 'timeAdded'>,
  other: Omit<Taint, 'timeAdded'>,
): boolean {
  return isSameTaint(one, other) && one.value === other.value;
}

/** Writes a taint as people write it: `key=value:effect`, `key:effect` without a value. */
export function formatTaint(taint: Pick<Taint, 'key' | 'value' | 'effect'>): string {
  const value = taint.value === '' ? '' : `=${taint.value}`;
  return `${taint.key}${value}:${taint.effect}`;
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const namePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const prefixPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The changes for which `kubectl taint` specs ask. An empty effect removes every effect of the key. */
interface TaintChanges {
  readonly add: readonly Taint[];
  readonly remove: readonly { readonly key: string; readonly effect: string }[];
}

/**
 * Reads a taint as written for `kubectl taint`: `key=value:effect` or `key:effect`. Throws
 * RangeError naming the wrong part and the values allowed there.
 */
export function parseTaint(text: string): Taint {
  const { key, value, effect } = parseSpec(text, text);
  if (effect === null) refuse(text, 'want key=value:effect or key:effect');
  return { key, value, effect, timeAdded: null };
}

/**
 * Reads the specs of one `kubectl taint` command: those that end in `-` remove, the others add.
 * Throws RangeError for the first that is wrong, and for two additions of one key and effect.
 */
export function parseTaintChanges(specs: readonly string[]): TaintChanges {
  const add: Taint[] = [];
  const remove: { key: string; effect: string }[] = [];
  for (const text of specs) {
    if (text.endsWith('-')) {
      const { key, effect } = parseSpec(text, text.slice(0, -1));
      remove.push({ key, effect: effect ?? '' });
      continue;
    }
    const taint = parseTaint(text);
    if (add.some(({ key, effect }) => key === taint.key && effect === taint.effect)) {
      refuse(text, `another taint with key "${taint.key}" and effect ${taint.effect} is given`);
    }
    add.push(taint);
  }
  return { add, remove };
}

interface Spec {
  readonly key: string;
  readonly value: string;
  /** Null where the spec is a key alone. */
  readonly effect: string | null;
}

function parseSpec(text: string, spec: string): Spec {
  const parts = spec.split(':');
  const [name = '', effect = null] = parts;
  // Without an effect there is no value either: the whole is the key.
  const [key = '', value = '', ...more] = effect === null ? [name] : name.split('=');
  if (parts.length > 2 || more.length > 0) refuse(text, 'want key=value:effect or key:effect');
  const wrongKey = qualifiedNameFault(key);
  if (wrongKey) refuse(text, `key "${key}": ${wrongKey}`);
  const wrongValue = value === '' ? null : nameFault(value);
  if (wrongValue) refuse(text, `value "${value}": ${wrongValue}`);
  if (effect !== null && !effects.includes(effect)) {
    refuse(text, `effect "${effect}": want ${effects.join(', ')}`);
  }
  return { key, value, effect };
}

/** The fault of a label-like key (`name` or `prefix/name`); null when it is fine. */
function qualifiedNameFault(key: string): string | null {
  const parts = key.split('/');
  if (parts.length > 2) return 'want name or prefix/name';
  const [name = '', prefix] = parts.reverse();
  if (prefix !== undefined && (prefix.length > 253 || !prefixPattern.test(prefix))) {
    return 'the prefix must be a lower-case DNS subdomain of at most 253 characters';
  }
  return nameFault(name);
}

function nameFault(name: string): string | null {
  if (name.length >= 1 && name.length <= 63 && namePattern.test(name)) return null;
  return "want 1 to 63 of letters, digits, '-', '_' and '.', beginning and ending alphanumeric";
}

function refuse(text: string, fault: string): never {
  throw new RangeError(`invalid taint "${text}": ${fault}`);
}

export const notReadyKey = 'node.kubernetes.io/not-ready';
export const unreachableKey = 'node.kubernetes.io/unreachable';
export const unschedulableKey = 'node.kubernetes.io/unschedulable';

/** The conditions of a node that mean taints with NoSchedule. */
export const conditionTaints: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', notReadyKey],
  ['Ready', 'Unknown', unreachableKey],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
];

/**
 * The keys of the taints that follow the state of their node, by effect. Source:
 * pkg/controller/nodelifecycle of Kubernetes 1.36.
 */
export const lifecycleKeys: Readonly<Record<'NoSchedule' | 'NoExecute', readonly string[]>> = {
  NoSchedule: [...conditionTaints.map(([, , key]) => key), unschedulableKey],
  NoExecute: [notReadyKey, unreachableKey],
};

/** True when the taint follows the state of its node, even if other programs put it on. */
export function isLifecycleTaint({ key, effect }: TaintName): boolean {
  return (effect === 'NoSchedule' || effect === 'NoExecute') && lifecycleKeys[effect].includes(key);
}
