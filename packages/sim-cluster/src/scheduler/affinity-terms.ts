// The affinity and anti-affinity of a pod to other pods, read once for many pods.
import type { KubeObject } from '../objects/kube-object.ts';
import { labelSelectorRequirements } from '../selectors/labels.ts';
import { type Labels, type PodSelector, podSelector, requirementsWith } from './pod-selector.ts';

/** Pods that a pod wants near it or far from it, and the domains in which it counts. */
export interface AffinityTerm {
  readonly selector: PodSelector;
  readonly topologyKey: string;
  /** The weight when nodes are scored; below 0: the pod prefers other places. */
  readonly weight: number;
}

/** The demands of a pod on the pods around it. */
export interface AffinityTerms {
  readonly near: readonly AffinityTerm[];
  readonly far: readonly AffinityTerm[];
  readonly preferred: readonly AffinityTerm[];
}

interface GivenTerm {
  readonly labelSelector?: KubeObject['selector'];
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: KubeObject['selector'];
  readonly topologyKey?: string;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

interface GivenAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly GivenTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight?: number;
    readonly podAffinityTerm?: GivenTerm;
  }[];
}

interface Affinity {
  readonly podAffinity?: GivenAffinity;
  readonly podAntiAffinity?: GivenAffinity;
}

const none: AffinityTerms = { near: [], far: [], preferred: [] };
const read = new WeakMap<
  Affinity,
  { readonly namespace: string; readonly labels: Labels; readonly terms: AffinityTerms }
>();

/** The terms of a pod; the pods of one template share them. */
export function affinityTermsOf(namespace: string, labels: Labels, pod: KubeObject): AffinityTerms {
  const affinity: Affinity | undefined = pod.spec.affinity;
  if (!affinity?.podAffinity && !affinity?.podAntiAffinity) return none;
  const known = read.get(affinity);
  if (known?.namespace === namespace && known.labels === labels) return known.terms;
  const { podAffinity = {}, podAntiAffinity = {} } = affinity;
  const termOf = (weight: number, given: GivenTerm): AffinityTerm =>
    affinityTerm(namespace, labels, weight, given);
  const preferred = (given: GivenAffinity, sign: 1 | -1): readonly AffinityTerm[] =>
    (given.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ weight = 0, podAffinityTerm }) =>
        podAffinityTerm ? [termOf(sign * weight, podAffinityTerm)] : [],
    );
  const required = (given: GivenAffinity): readonly AffinityTerm[] =>
    (given.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => termOf(1, term));
  const terms = {
    near: required(podAffinity),
    far: required(podAntiAffinity),
    preferred: [...preferred(podAffinity, 1), ...preferred(podAntiAffinity, -1)],
  };
  read.set(affinity, { namespace, labels, terms });
  return terms;
}

/** Without any namespace it is about the pod's own. */
function affinityTerm(
  namespace: string,
  labels: Labels,
  weight: number,
  given: GivenTerm,
): AffinityTerm {
  const { namespaces = [], namespaceSelector, topologyKey = '' } = given;
  const { labelSelector, matchLabelKeys, mismatchLabelKeys } = given;
  const isOwn = namespaces.length === 0 && !namespaceSelector;
  const chosen = namespaceSelector ? labelSelectorRequirements(namespaceSelector) : null;
  const wanted = requirementsWith(labelSelector, labels, matchLabelKeys, mismatchLabelKeys);
  const selector = podSelector(isOwn ? [namespace] : namespaces, wanted, chosen);
  return { selector, topologyKey, weight };
}
