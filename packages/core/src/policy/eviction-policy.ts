// Eviction policies: what is done about the pods that a taint makes leave.
import type { Millis } from '../kernel/time.ts';
import type { Taint } from '../model/taint.ts';

/** How a pod is made to leave. */
export type EvictionMode =
  /** DELETE, as kube-controller-manager does: disruption budgets are not asked. */
  | 'delete'
  /** The Eviction API: disruption budgets are respected, for as long as it takes. */
  | 'evict'
  /** The Eviction API, and DELETE when its time is over: see deleteAfterMs and Node.deadline. */
  | 'evictThenDelete';

/** What is done about the pods that a taint makes leave. */
export interface Policy {
  readonly mode: EvictionMode;
  /** With `evictThenDelete`: how long after the pod's deadline budgets are asked; null: for ever. */
  readonly deleteAfterMs: Millis | null;
  /** Instead of the pod's own; null: the pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** A taint younger than this is not acted on: it may be gone again at once. */
  readonly minTaintAgeMs: Millis;
}

/** A policy for the taints that match; what it leaves out is as the configuration has it. */
export interface TaintPolicy extends Partial<Policy> {
  /** Patterns, in which `*` stands for any characters. Left out: every taint. */
  readonly key?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** Finds the policy for a taint: the first that matches counts. */
export class Policies {
  readonly #rules: readonly {
    readonly matches: (taint: Taint) => boolean;
    readonly policy: Policy;
  }[];
  readonly #fallback: Policy;

  constructor(rules: readonly TaintPolicy[], fallback: Policy) {
    this.#fallback = fallback;
    this.#rules = rules.map(({ key, value, effect, ...policy }) => {
      const patterns = { key: matcher(key), value: matcher(value), effect: matcher(effect) };
      return {
        matches: (taint) =>
          patterns.key(taint.key) && patterns.value(taint.value) && patterns.effect(taint.effect),
        policy: { ...fallback, ...policy },
      };
    });
  }

  for(taint: Taint): Policy {
    return this.#rules.find(({ matches }) => matches(taint))?.policy ?? this.#fallback;
  }
}

function matcher(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true;
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const expression = new RegExp(`^${parts.join('.*')}$`, 's');
  return (text) => expression.test(text);
}
