import type { Taint, Toleration } from '@taintmgr/core';

/** Taints and tolerations as the vectors write them: what is absent is empty. */
export type VectorTaint = { readonly [Field in keyof Taint]?: string };

export interface VectorToleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  /** A string where it does not fit a double exactly. */
  readonly tolerationSeconds?: number | string | null;
}

export function taintFrom({ key = '', value = '', effect = '' }: VectorTaint): Taint {
  return { key, value, effect, timeAdded: null };
}

export function tolerationFrom(toleration: VectorToleration): Toleration {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds = null } = toleration;
  const seconds =
    typeof tolerationSeconds === 'string' ? BigInt(tolerationSeconds) : tolerationSeconds;
  return { key, operator, value, effect, tolerationSeconds: seconds };
}
