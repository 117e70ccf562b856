// The limits that hold: those of the configuration, and those of every policy.
import type { Node } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import { selects } from '../../model/selector.ts';
import type { Taint } from '../../model/taint.ts';
import { matchesTaint, podFit } from '../../policy/choice.ts';
import { type Candidate, isWindowed, type LimitRule, scopeName } from '../../policy/limit.ts';
import type { EvictionPolicy } from '../../policy/values.ts';
import type { StoreView } from '../../store.ts';

/** A limit, with the policy that sets it: it counts only what that matches. */
export interface BoundLimit {
  readonly rule: LimitRule;
  /** Null: the configuration of the process. */
  readonly policy: Pick<EvictionPolicy, 'name' | 'match'> | null;
  /** The same for as long as it says the same, whatever else changes. */
  readonly key: string;
}

/** Every limit; those of a policy hold whether it counts or not. */
export function boundLimits(
  rules: readonly LimitRule[],
  policies: readonly EvictionPolicy[],
): readonly BoundLimit[] {
  const bound = [
    ...rules.map((rule) => ({ rule, policy: null })),
    ...policies.flatMap((policy) => policy.limits.map((rule) => ({ rule, policy }))),
  ];
  const seen = new Map<string, number>();
  return bound.map(({ rule, policy }) => {
    const said = JSON.stringify([policy && [policy.name, policy.match], rule]);
    const times = seen.get(said) ?? 0;
    seen.set(said, times + 1);
    return { rule, policy, key: `${said} ${times}` };
  });
}

/** The names of the scopes of a limit that a pod counts in. */
export function namesOf(
  { rule, policy }: BoundLimit,
  pod: Pod,
  node: Node | null,
  store: StoreView,
): readonly string[] {
  if (!appliesTo(rule, node) || !isForPod(policy, pod, node, store)) return [];
  const taints = node?.taints.filter(({ effect }) => effect === 'NoExecute') ?? [];
  const matched = taints.filter((taint) => !policy || matchesTaint(policy.match, taint));
  const name = scopeName(rule.per, pod, node);
  const keys = rule.per === 'taint' ? matched.map(({ key }) => key) : name === null ? [] : [name];
  return [...new Set(keys)].filter((one) => rule.name === undefined || rule.name === one);
}

/** The scope of a limit that the eviction of a pod counts in; null: in none. */
export function nameFor(
  { rule, policy }: BoundLimit,
  { pod, taint, late }: Candidate,
  node: Node | null,
  store: StoreView,
): string | null {
  if (late && (isWindowed(rule) || rule.onLimit === 'trip')) return null;
  const name = rule.per === 'taint' ? (taint?.key ?? null) : scopeName(rule.per, pod, node);
  if (name === null || (rule.name !== undefined && rule.name !== name)) return null;
  if (!appliesTo(rule, node) || !isForTaint(policy, taint)) return null;
  return isForPod(policy, pod, node, store) ? name : null;
}

function isForTaint(policy: BoundLimit['policy'], taint: Taint | null): boolean {
  return policy === null || taint === null || matchesTaint(policy.match, taint);
}

/** A limit protects: where nobody can tell whether it is for the pod, it is. */
function isForPod(
  policy: BoundLimit['policy'],
  pod: Pod,
  node: Node | null,
  store: StoreView,
): boolean {
  if (!policy) return true;
  const namespaceLabels = store.namespaceLabels(pod.namespace);
  const fit = podFit(policy.match, { pod, node, namespaceLabels });
  return fit === 'matches' || fit === 'unknownNamespace';
}

/** Whether a rule is for the pods of a node. */
function appliesTo({ nodes }: LimitRule, node: Node | null): boolean {
  return nodes === undefined || selects(nodes, node?.labels ?? {});
}
