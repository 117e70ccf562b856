// Why a policy counts or does not, in words and as members of documents.
import { formatTaint } from '@taintmgr/core';
import type { EvictionPolicy, LimitRule, PolicyPart, PolicyVerdict } from '@taintmgr/core/policy';
import { formatDuration } from '@taintmgr/core/time';
import type { PodChoices, TaintChoice } from './survey.ts';

/** One policy, asked for a pod and a taint. */
export interface PolicyRow {
  readonly taint: string;
  readonly policy: string;
  readonly priority: number;
  readonly action: string | null;
  readonly counts: boolean;
  readonly verdict: PolicyVerdict['kind'] | 'counts';
  readonly why: string;
}

/** A policy that matches a pod, and the limits that it sets. */
interface HeldLimits {
  readonly policy: string;
  readonly limits: readonly LimitRule[];
}

/** The policy that counts first, the others in their order. */
export function rowsOf(one: TaintChoice, namespace: string): readonly PolicyRow[] {
  const { counts, undecided, others } = one.choice;
  const all = others.map((one) => one.policy);
  const actionOf = (policy: EvictionPolicy) => ({
    taint: formatTaint(one.taint),
    policy: policy.name,
    priority: policy.priority,
    action: policy.action,
  });
  return [
    ...(counts
      ? [{ ...actionOf(counts), counts: true, verdict: 'counts' as const, why: countsText(one) }]
      : []),
    ...others.map(({ policy, why }) => {
      const before = all.find(({ name }) => 'by' in why && name === why.by) ?? counts;
      const text =
        policy === undecided
          ? `${verdictText(why, policy, before, namespace)}: undecided, the pod stays`
          : verdictText(why, policy, before, namespace);
      return { ...actionOf(policy), counts: false, verdict: why.kind, why: text };
    }),
  ];
}

function countsText({ choice: { counts, others } }: TaintChoice): string {
  const isTie = others.some(
    ({ policy, why }) => why.kind === 'outranked' && policy.priority === counts?.priority,
  );
  return isTie
    ? 'counts: of those that match with the highest priority the first by name'
    : 'counts: highest priority of those that match';
}

/** Why a policy does not count. `before`: the one that goes before it, where one does. */
export function verdictText(
  verdict: PolicyVerdict,
  policy: EvictionPolicy,
  before: EvictionPolicy | null,
  namespace: string,
): string {
  switch (verdict.kind) {
    case 'notMatched':
      return `does not match: ${fieldOf(verdict.part, policy)}`;
    case 'outranked':
      return `matches; ${verdict.by} (priority ${before?.priority ?? '?'}) goes before`;
    case 'onlyLimits':
      return 'matches; has no action, only limits';
    case 'unknownNamespace':
      return `asks for labels of namespace ${namespace}, which are not known`;
  }
}

/** What a part is called in manifests. */
function fieldOf(part: PolicyPart, { match }: EvictionPolicy): string {
  switch (part) {
    case 'taints':
    case 'podPriority':
      return part;
    case 'nodes':
      return 'nodeSelector';
    case 'pods':
      return 'podSelector';
    case 'namespaces': {
      const { names = [], selector = null } = match.namespaces ?? {};
      if (selector === null) return 'namespaces';
      return names.length === 0 ? 'namespaceSelector' : 'namespaces or namespaceSelector';
    }
  }
}

/** The limits of every policy that matches the pod for one of the taints. */
export function heldLimits({ taints }: PodChoices): readonly HeldLimits[] {
  const matching = taints.flatMap(({ choice: { counts, others } }) => [
    ...(counts ? [counts] : []),
    ...others
      .filter(({ why }) => why.kind === 'outranked' || why.kind === 'onlyLimits')
      .map(({ policy }) => policy),
  ]);
  return [...new Set(matching)]
    .filter(({ limits }) => limits.length > 0)
    .map(({ name, limits }) => ({ policy: name, limits }));
}

/** `zones: per zone at most 20 % within 10m` */
export function limitsText({ policy, limits }: HeldLimits): string {
  return `${policy}: ${limits.map(limitText).join('; ')}`;
}

function limitText({ per, name, podsPerSecond, percent, pods, windowMs }: LimitRule): string {
  const scope = per === 'total' ? 'in total' : `per ${per}`;
  const within = windowMs === undefined ? '' : ` within ${formatDuration(windowMs)}`;
  const most = [
    ...(podsPerSecond === undefined ? [] : [`${podsPerSecond} pods a second`]),
    ...(percent === undefined ? [] : [`${percent} %${within}`]),
    ...(pods === undefined ? [] : [`${pods} pods${within}`]),
  ];
  return `${scope}${name === undefined ? '' : ` ${name}`} at most ${most.join(', ')}`;
}
