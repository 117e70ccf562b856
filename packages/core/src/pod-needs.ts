import type { Config } from './config.ts';
import { type Node, readyOf } from './model/node.ts';
import { isWindowed } from './policy/limit.ts';

/**
 * Whether the pods of a node have to be known: they go for its taints, or are marked not ready
 * because it is unreachable.
 */
export function concernsPods({ taints, conditions }: Node): boolean {
  const isTainted = taints.some(({ effect }) => effect === 'NoExecute');
  return isTainted || readyOf(conditions)?.status === 'Unknown';
}

/** What depends on all pods, by where it is configured. */
export type AllPodsNeed = 'semantics' | 'compare' | 'limits' | 'takeover';

type Rule = readonly [need: AllPodsNeed, isNeeded: (config: Partial<Config>) => boolean];

const rules: readonly Rule[] = [
  // Its timers begin when it hears of a pod, and go by names, which pods on other nodes take over.
  ['semantics', ({ semantics }) => semantics === 'upstream-1.36'],
  ['compare', ({ compare }) => compare === true],
  // Counted are pods that are unavailable, and a share is one of all there are, on whatever node.
  ['limits', ({ limits = [] }) => limits.some(isWindowed)],
  // A mark of ours is taken from a pod when its node has lost its taints.
  ['takeover', ({ takeover }) => takeover === true],
];

/**
 * What of a configuration would go wrong where only the pods of nodes are known which
 * `concernsPods` names; empty: nothing.
 */
export function allPodsNeeds(config: Partial<Config>): readonly AllPodsNeed[] {
  return rules.flatMap(([need, isNeeded]) => (isNeeded(config) ? [need] : []));
}
