import {
  type Config,
  type Decision,
  type DrainOptions,
  type DrainVerdict,
  drainVerdict,
  formatTaint,
  type Instant,
  type Node,
  type Pod,
  type Reason,
  type Taint,
} from '@taintmgr/core';
import { engineWith } from '../../snapshot.ts';

/** What the drain will do with one pod of a target node. */
export interface PlannedPod {
  readonly pod: Pod;
  readonly fate:
    | { readonly kind: 'evict'; readonly at: Instant }
    | { readonly kind: 'keep' }
    | Exclude<DrainVerdict, { kind: 'take' }>;
  readonly because: readonly Reason[];
}

/** What a drain of these nodes would do. */
export interface DrainPlan {
  readonly taint: Taint;
  readonly pods: readonly PlannedPod[];
}

/**
 * Puts the taint on the nodes in thought, at `now`, and asks the engine what becomes of their pods;
 * kubectl drain's filters judge those that would be evicted.
 */
export function planDrain(
  now: Instant,
  taint: Taint,
  nodes: readonly Node[],
  pods: readonly Pod[],
  options: DrainOptions & { readonly engine?: Partial<Config> },
): DrainPlan {
  const tainted = nodes.map((node) => withTaint(node, taint, now));
  const engine = engineWith(now, tainted, pods, options.engine);
  const planned = nodes.flatMap(({ name }) => {
    const explanation = engine.explain(now, { kind: 'node', name });
    return explanation?.kind === 'node' ? explanation.pods : [];
  });
  return {
    taint,
    pods: planned.map(({ pod, decision }) => {
      return { pod, fate: fateOf(pod, decision, options), because: decision.because };
    }),
  };
}

function fateOf(pod: Pod, decision: Decision, options: DrainOptions): PlannedPod['fate'] {
  if (decision.kind !== 'evict') return { kind: 'keep' };
  const verdict = drainVerdict(pod, options);
  return verdict.kind === 'take' ? { kind: 'evict', at: decision.deadline } : verdict;
}

/** Whether the node carries this very taint already. */
export function hasTaint(node: Node, taint: Taint): boolean {
  return node.taints.some((one) => formatTaint(one) === formatTaint(taint));
}

/** The node as it would be: a taint of the same key and effect gives way, as in `kubectl taint`. */
function withTaint(node: Node, taint: Taint, now: Instant): Node {
  if (hasTaint(node, taint)) return node;
  const others = node.taints.filter(
    ({ key, effect }) => key !== taint.key || effect !== taint.effect,
  );
  return { ...node, taints: [...others, { ...taint, timeAdded: now }] };
}
