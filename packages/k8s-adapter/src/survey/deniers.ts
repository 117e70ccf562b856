// Who may refuse a deletion of a pod: admission policies and webhooks whose rules cover it.
import type { PodFacts } from './facts.ts';
import type { ClusterReader } from './reader.ts';
import { unless } from './refusals.ts';

/** The names of those whose rules cover deletions of pods; conditions and selectors may except a pod. Null: we may not see them. */
export interface Deniers {
  readonly policies: readonly string[] | null;
  readonly webhooks: readonly string[] | null;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly operations?: readonly string[];
}

interface PolicyObject {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly matchConstraints?: { readonly resourceRules?: readonly Rule[] } };
}

interface WebhookObject {
  readonly webhooks?: readonly { readonly name: string; readonly rules?: readonly Rule[] }[];
}

const root = '/apis/admissionregistration.k8s.io/v1';

/**
 * True: kube-controller-manager marked the pod and then did not delete the pod: the deletion was
 * refused. kube-controller-manager does not try again, and after two minutes the mark is taken
 * back.
 */
function wasRefused({ pod, unmarkedAt }: PodFacts): boolean {
  if (pod.deletionTimestamp !== null) return false;
  return pod.disruption?.reason === 'DeletionByTaintManager' || unmarkedAt !== null;
}

/**
 * Reads the programs that may have refused the deletion of such a pod; null: it was not refused.
 */
export async function readDeniers(reader: ClusterReader, facts: PodFacts): Promise<Deniers | null> {
  if (!wasRefused(facts)) return null;
  const read = (kind: string) => unless(403, () => reader.objectsIfServed(`${root}/${kind}`), null);
  const [policies, webhooks] = await Promise.all([
    read('validatingadmissionpolicies') as Promise<readonly PolicyObject[] | null>,
    read('validatingwebhookconfigurations') as Promise<readonly WebhookObject[] | null>,
  ]);
  return {
    policies:
      policies
        ?.filter(({ spec }) => spec?.matchConstraints?.resourceRules?.some(coversDeletion))
        .map(({ metadata }) => metadata.name) ?? null,
    webhooks:
      webhooks
        ?.flatMap(({ webhooks: hooks = [] }) => hooks)
        .filter(({ rules = [] }) => rules.some(coversDeletion))
        .map(({ name }) => name) ?? null,
  };
}

function coversDeletion({ apiGroups = [], resources = [], operations = [] }: Rule): boolean {
  const has = (list: readonly string[], ...wanted: readonly string[]): boolean =>
    list.some((one) => wanted.includes(one));
  return (
    has(operations, 'DELETE', '*') && has(resources, 'pods', '*', '*/*') && has(apiGroups, '', '*')
  );
}
