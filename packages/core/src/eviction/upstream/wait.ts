import type { Millis } from '../../kernel/time.ts';
import type { Taint } from '../../model/taint.ts';
import { decidingToleration, type MatchOptions, type Toleration } from '../../model/toleration.ts';

/** The time that kube-controller-manager reads from a pod's tolerations and its node's NoExecute taints. */
export type UpstreamWait =
  /** No toleration of the pod matches this taint. */
  | { readonly kind: 'intolerable'; readonly taint: Taint }
  | { readonly kind: 'forever' }
  /** The toleration of this taint is the shortest. */
  | { readonly kind: 'finite'; readonly wait: Millis; readonly taint: Taint };

const nanosPerSecond = 1_000_000_000n;
const nanosPerMilli = 1_000_000;
const int64Max = 2n ** 63n - 1n;

/** `taints` must not be empty: upstream never asks then, and would answer "at once". */
export function upstreamWait(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  options: MatchOptions,
): UpstreamWait {
  const used: Toleration[] = [];
  let shortest: { readonly taint: Taint; readonly seconds: bigint } | null = null;
  for (const taint of taints) {
    const toleration = decidingToleration(tolerations, taint, options);
    if (!toleration) return { kind: 'intolerable', taint };
    used.push(toleration);
    if (toleration.tolerationSeconds === null) continue;
    const seconds = int64(toleration.tolerationSeconds);
    if (!shortest || seconds < shortest.seconds) shortest = { taint, seconds };
  }
  const nanos = minTolerationNanos(used);
  if (nanos < 0n || !shortest) return { kind: 'forever' };
  return { kind: 'finite', wait: Number(nanos) / nanosPerMilli, taint: shortest.taint };
}

/**
 * The shortest time of the tolerations in nanoseconds, negative for no limit. Rule
 * `seconds-wrap`: the product is a wrapping int64, so 9223372037 s become "no limit" and
 * 18446744074 s become 0.29 s.
 */
export function minTolerationNanos(used: readonly Toleration[]): bigint {
  if (used.length === 0) return 0n;
  let min = int64Max;
  for (const { tolerationSeconds } of used) {
    if (tolerationSeconds === null) continue;
    const seconds = int64(tolerationSeconds);
    if (seconds <= 0n) return 0n;
    if (seconds < min) min = seconds;
  }
  return min === int64Max ? -1n : BigInt.asIntN(64, min * nanosPerSecond);
}

/** A number that JSON.parse rounded beyond the range came from one at its edge. */
function int64(seconds: number | bigint): bigint {
  if (Number.isNaN(seconds)) return 0n;
  const whole = typeof seconds === 'number' ? clampToSafe(Math.trunc(seconds)) : seconds;
  const value = BigInt(whole);
  if (value > int64Max) return int64Max;
  return value < -int64Max ? -int64Max - 1n : value;
}

/** An infinite number is as good as the largest; BigInt takes neither infinity nor fractions. */
function clampToSafe(whole: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, whole));
}
