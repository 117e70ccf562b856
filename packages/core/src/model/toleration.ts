// Matches tolerations with taints.
import type { Taint } from './taint.ts';

/** The options on which the matching rules depend besides the objects. */
export interface MatchOptions {
  /** Lt and Gt compare numbers; otherwise they match nothing. */
  readonly comparisonOperators: boolean;
}

/**
 * True when one toleration covers one taint. The effect and the key must agree unless the
 * toleration leaves them empty; then the operator judges the value.
 * Source: Toleration.ToleratesTaint of Kubernetes 1.36.
 */
export function toleratesTaint(
  toleration: Toleration,
  taint: Taint,
  options: MatchOptions,
): boolean {
  if (toleration.effect !== '' && toleration.effect !== taint.effect) return false;
  if (toleration.key !== '' && toleration.key !== taint.key) return false;
  switch (toleration.operator) {
    case '':
    case 'Equal':
      return toleration.value === taint.value;
    case 'Exists':
      return true;
    case 'Lt':
      return options.comparisonOperators && compareValues(taint, toleration) < 0;
    case 'Gt':
      return options.comparisonOperators && compareValues(taint, toleration) > 0;
    default:
      return false;
  }
}

/**
 * The toleration that decides about a taint: the first of the pod's list that covers it, even if a
 * later one would tolerate it for longer. Null when none does.
 */
export function decidingToleration(
  tolerations: readonly Toleration[],
  taint: Taint,
  options: MatchOptions,
): Toleration | null {
  return tolerations.find((toleration) => toleratesTaint(toleration, taint, options)) ?? null;
}

/** Negative, zero or positive as the taint's value is below, at or above; NaN if not comparable. */
function compareValues(taint: Taint, toleration: Toleration): number {
  const [left, right] = [int64(taint.value), int64(toleration.value)];
  if (left === null || right === null) return Number.NaN;
  return left < right ? -1 : Number(left > right);
}

const canonicalInteger = /^(?:0|-?[1-9][0-9]*)$/;

function int64(text: string): bigint | null {
  if (!canonicalInteger.test(text)) return null;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** spec.tolerations[] of a pod. Absent strings are empty. */
export interface Toleration {
  /** Empty: every key. */
  readonly key: string;
  /** '', 'Equal', 'Exists', 'Lt' or 'Gt' in any object the API server accepted. */
  readonly operator: string;
  /** The value that `Equal` compares, and the bound of `Lt` and `Gt` (KEP-5471). */
  readonly value: string;
  /** Empty: every effect. */
  readonly effect: string;
  /** Seconds, a signed 64-bit integer (a bigint where a number cannot hold it); null: for ever. */
  readonly tolerationSeconds: number | bigint | null;
}
