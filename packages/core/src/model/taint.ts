import { finite, type Instant, type Millis } from '../kernel/time.ts';

/** The effects Kubernetes knows; objects may carry others, which then match nothing. */
export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

/** spec.taints[] of a node. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  /** One of TaintEffect in any object the API server accepted. */
  readonly effect: string;
  /** When the taint was put on; null where nobody wrote it (`kubectl taint` does not). */
  readonly timeAdded: Instant | null;
}

/** Clocks that are right differ by less. */
const aheadMax: Millis = 5_000;

/**
 * taint.timeAdded as far as it may be believed at `wall` by the cluster's clock: who writes a time that
 * is yet to come has a clock that is wrong. Null: nobody knows.
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

/** Whether a list holds the taint. */
export function hasTaint(taints: readonly TaintName[], taint: TaintName): boolean {
  return taints.some((other) => isSameTaint(other, taint));
}

/** Whether key, value and effect are the same. Another value: a pod may tolerate one and not the other. */
export function isEqualTaint(one: Taint, other: Taint): boolean {
  return isSameTaint(one, other) && one.value === other.value;
}
