// Taints and tolerations as scheduling reads them.

/** A node's taint, as far as scheduling reads it. */
export interface Taint {
  /** Such as `node.kubernetes.io/unreachable`. */
  readonly key: string;
  /** Left out: ''. */
  readonly value?: string;
  /** `NoSchedule`, `PreferNoSchedule` or `NoExecute`. */
  readonly effect: string;
}

/** A pod's toleration, as far as scheduling reads it. */
export interface Toleration {
  /** Left out with `Exists`: every key. */
  readonly key?: string;
  /** `Equal` or `Exists`; left out: `Equal`. */
  readonly operator?: string;
  /** The value of the taint, with `Equal`. */
  readonly value?: string;
  /** Left out: every effect. */
  readonly effect?: string;
}

/** A toleration as it is written into a pod. */
export interface TimedToleration extends Toleration {
  /** Seconds for which a NoExecute taint is tolerated; left out: for ever. */
  readonly tolerationSeconds?: number;
}

/** The first taint with one of these effects that no toleration covers, or null. */
export function untolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | null {
  for (const taint of taints) {
    if (!effects.includes(taint.effect)) continue;
    if (!tolerations.some((toleration) => tolerates(toleration, taint))) return taint;
  }
  return null;
}

/** True if a toleration covers a taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '');
}
