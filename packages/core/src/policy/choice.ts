// Chooses the eviction policy that counts for a pod and one taint of its node, and says why the others do not.
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { type Labels, selects } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import { matchesPattern, matchesSome } from './scope.ts';
import type { EvictionPolicy, PolicyMatch } from './values.ts';

/** A pod, and whatever of its surroundings policies look at. */
export interface PolicySubject {
  /** The pod. */
  readonly pod: Pod;
  /** Null: not known; it counts as one without labels. */
  readonly node: Node | null;
  /** Null: the namespace is not known. */
  readonly namespaceLabels: Labels | null;
}

/** The parts of a policy's match, in the order in which they are looked at. */
export type PolicyPart = 'taints' | 'nodes' | 'namespaces' | 'pods' | 'podPriority';

/** Why a policy does not count. */
export type PolicyVerdict =
  /** This part of its match does not match; the parts before it do. */
  | { readonly kind: 'notMatched'; readonly part: PolicyPart }
  /** The policy matches and names no action: its limits hold. */
  | { readonly kind: 'onlyLimits' }
  /** The policy matches, and so does one that comes before it. */
  | { readonly kind: 'outranked'; readonly by: string }
  /**
   * The policy's match names labels of a namespace that is not known: the match is unknown, and the
   * pod stays.
   */
  | { readonly kind: 'unknownNamespace' };

/** The choice of policies for a pod and a taint. */
export interface PolicyChoice {
  /** Null: the configuration of the process counts. */
  readonly counts: EvictionPolicy | null;
  /** A policy that may count, where that is unknown; then none counts. */
  readonly undecided: EvictionPolicy | null;
}

/** The policy that counts for a pod and a taint, and a verdict on every other one. */
export interface ExplainedChoice extends PolicyChoice {
  /** Every other policy, and why it does not count. */
  readonly others: readonly { readonly policy: EvictionPolicy; readonly why: PolicyVerdict }[];
}

type Fit = 'matches' | 'unknownNamespace' | PolicyPart;

/** The order in which policies count: the higher priority first, then by name. */
export function inPolicyOrder(a: EvictionPolicy, b: EvictionPolicy): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/**
 * The policy that counts: the first of those that match and name an action. `policies` are in their
 * order (inPolicyOrder).
 */
export function choosePolicy(
  policies: readonly EvictionPolicy[],
  taint: Taint,
  subject: PolicySubject,
): PolicyChoice {
  const forTaint = policies.filter(({ match }) => matchesTaint(match, taint));
  return chooseAmong(forTaint, subject);
}

/** The same of policies that are all for the taint. */
function chooseAmong(policies: readonly EvictionPolicy[], subject: PolicySubject): PolicyChoice {
  for (const policy of policies) {
    if (policy.action === null) continue;
    const fit = podFit(policy.match, subject);
    if (fit === 'matches') return { counts: policy, undecided: null };
    if (fit === 'unknownNamespace') return { counts: null, undecided: policy };
  }
  return none;
}

const none: PolicyChoice = { counts: null, undecided: null };

/**
 * Chooses the policy that counts, from policies in any order, and says why each of the others does
 * not count.
 */
export function explainChoice(
  policies: readonly EvictionPolicy[],
  taint: Taint,
  subject: PolicySubject,
): ExplainedChoice {
  const inOrder = [...policies].sort(inPolicyOrder);
  const choice = choosePolicy(inOrder, taint, subject);
  const by = choice.counts ?? choice.undecided;
  const others = inOrder.flatMap((policy) => {
    if (policy === choice.counts) return [];
    return [{ policy, why: verdictOn(policy, fitOf(policy.match, taint, subject), by) }];
  });
  return { ...choice, others };
}

function verdictOn(policy: EvictionPolicy, fit: Fit, by: EvictionPolicy | null): PolicyVerdict {
  if (fit === 'unknownNamespace') return { kind: fit };
  if (fit !== 'matches') return { kind: 'notMatched', part: fit };
  if (policy.action === null || by === null) return { kind: 'onlyLimits' };
  return { kind: 'outranked', by: by.name };
}

/** True when a policy is for this taint of the pod's node; unknown: cannot be decided. */
export function matchesTaint({ taints }: PolicyMatch, taint: Taint): boolean {
  if (taints.length === 0) return true;
  return taints.some(
    ({ key = '*', value = '*', effect = '*' }) =>
      matchesPattern(key, taint.key) &&
      matchesPattern(value, taint.value) &&
      matchesPattern(effect, taint.effect),
  );
}

const noLabels: Labels = {};

/** The part of a match that a pod does not fit, whatever the taint. */
export function podFit(match: PolicyMatch, subject: PolicySubject): Fit {
  const { pod, node, namespaceLabels } = subject;
  if (match.nodes && !selects(match.nodes, node?.labels ?? noLabels)) return 'nodes';
  const names = match.namespaces?.names;
  if (names && !matchesSome(names, pod.namespace)) return 'namespaces';
  const selector = match.namespaces?.selector ?? null;
  const isUnknown = selector !== null && namespaceLabels === null;
  if (selector && namespaceLabels && !selects(selector, namespaceLabels)) return 'namespaces';
  if (match.pods && !selects(match.pods, pod.labels ?? noLabels)) return 'pods';
  if (match.podPriority && !hasPriority(match.podPriority, pod)) return 'podPriority';
  return isUnknown ? 'unknownNamespace' : 'matches';
}

function fitOf(match: PolicyMatch, taint: Taint, subject: PolicySubject): Fit {
  return matchesTaint(match, taint) ? podFit(match, subject) : 'taints';
}

function hasPriority(
  { min, max, classes }: NonNullable<PolicyMatch['podPriority']>,
  { priority = 0, priorityClassName = '' }: Pod,
): boolean {
  if ((min !== null && priority < min) || (max !== null && priority > max)) return false;
  return classes.length === 0 || classes.includes(priorityClassName);
}

/** The facts on which a choice depends beside pod and taint. */
interface Site {
  readonly policies: readonly EvictionPolicy[];
  readonly node: Node | null;
  /** Null: not known. */
  readonly namespaceLabels: Labels | null;
}

interface KnownOfPod extends Site {
  readonly byTaint: Map<Taint, PolicyChoice>;
}

/** Remembers the answer for as long as all its inputs are the same objects. */
export class PodPolicies {
  readonly #nodePolicies = new NodePolicies();
  readonly #known = new WeakMap<Pod, KnownOfPod>();

  choose(pod: Pod, taint: Taint, site: Site): PolicyChoice {
    const { policies, node, namespaceLabels } = site;
    const known = this.#known.get(pod);
    const isSame =
      known?.policies === policies &&
      known.node === node &&
      known.namespaceLabels === namespaceLabels;
    const current = isSame ? known : { ...site, byTaint: new Map<Taint, PolicyChoice>() };
    if (!isSame) this.#known.set(pod, current);
    const found = current.byTaint.get(taint);
    if (found) return found;
    const subject = { pod, node, namespaceLabels };
    const choice = node
      ? chooseAmong(this.#nodePolicies.of(policies, node, taint), subject)
      : choosePolicy(policies, taint, subject);
    current.byTaint.set(taint, choice);
    return choice;
  }
}

interface KnownOfNode {
  readonly policies: readonly EvictionPolicy[];
  readonly byTaint: Map<Taint, readonly EvictionPolicy[]>;
}

/** Remembers the answer for as long as node, taint and policies are the same objects. */
export class NodePolicies {
  readonly #known = new WeakMap<Node, KnownOfNode>();

  /** The policies that may be for a pod on this node with this taint, in their order. */
  of(policies: readonly EvictionPolicy[], node: Node, taint: Taint): readonly EvictionPolicy[] {
    const known = this.#known.get(node);
    const current = known?.policies === policies ? known : { policies, byTaint: new Map() };
    if (current !== known) this.#known.set(node, current);
    const found = current.byTaint.get(taint);
    if (found) return found;
    const labels = node.labels ?? {};
    const matching = policies.filter(
      ({ match }) =>
        matchesTaint(match, taint) && (match.nodes === null || selects(match.nodes, labels)),
    );
    current.byTaint.set(taint, matching);
    return matching;
  }
}
