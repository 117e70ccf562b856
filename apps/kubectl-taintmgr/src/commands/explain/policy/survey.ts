// Reads what decides which policy counts: a pod or the pods of a node, its taints, the policies.
import type { Taint } from '@taintmgr/core';
import {
  type EvictionPolicy,
  type ExplainedChoice,
  explainChoice,
  type PolicyObject,
  policyKinds,
} from '@taintmgr/core/policy';
import { type Evictor, readEvictor } from '../../../cluster/evictors.ts';
import type { NodeFacts, PodFacts } from '../../../cluster/facts.ts';
import { type ClusterPolicies, readClusterPolicies } from '../../../cluster/policies.ts';
import type { ClusterReader } from '../../../cluster/reader.ts';
import { UsageError } from '../../../usage-error.ts';

/** What is asked about. */
export interface PolicyQuestion {
  readonly kind: 'pod' | 'node';
  readonly name: string;
}

/** What policies come to for a pod and one taint of its node. */
export interface TaintChoice {
  readonly taint: Taint;
  readonly choice: ExplainedChoice;
}

export interface PodChoices {
  readonly facts: PodFacts;
  readonly taints: readonly TaintChoice[];
}

export interface PolicySurvey {
  readonly question: PolicyQuestion;
  /** Null: the pod is on no node that is there. */
  readonly node: NodeFacts | null;
  readonly pods: readonly PodChoices[];
  readonly policies: ClusterPolicies;
  readonly evictor: Evictor;
  readonly refused: readonly string[];
}

/** Throws UsageError for what is neither a pod nor a node. */
export function readPolicyQuestion(text: string): PolicyQuestion {
  const [, kind, name] = /^(?:([^/]*)\/)?([^/]+)$/s.exec(text) ?? [];
  if (name !== undefined) {
    if (kind === undefined || /^(pods?|po)$/.test(kind)) return { kind: 'pod', name };
    if (/^(nodes?|no)$/.test(kind)) return { kind: 'node', name };
  }
  throw new UsageError(`got ${JSON.stringify(text)}, want NAME, pod/NAME or node/NAME`);
}

/** Throws ApiError (NotFound), ConnectionError, and UsageError where policies may not be seen. */
export async function surveyPolicies(
  reader: ClusterReader,
  question: PolicyQuestion,
  namespace: string,
  files: readonly PolicyObject[],
): Promise<PolicySurvey> {
  const { node, pods } = await readPods(reader, question, namespace);
  const acting = reader.evictors().then((found) => readEvictor(found, reader, reader.now()));
  const [policies, evictor] = await Promise.all([
    readClusterPolicies(reader, acting, files),
    acting,
  ]);
  if (policies.hidden.includes('EvictionPolicy')) {
    const { plural } = policyKinds.EvictionPolicy;
    throw new UsageError(`which policy counts is unknown: no permission to list ${plural}`);
  }
  const chosen = pods.map((facts) => choicesOf(facts, node, policies));
  return { question, node, pods: chosen, policies, evictor, refused: reader.refused };
}

async function readPods(
  reader: ClusterReader,
  { kind, name }: PolicyQuestion,
  namespace: string,
): Promise<{ readonly node: NodeFacts | null; readonly pods: readonly PodFacts[] }> {
  if (kind === 'node') {
    const node = await reader.node(name);
    return { node, pods: await reader.podsOn([name]) };
  }
  const facts = await reader.pod(namespace, name);
  const { nodeName } = facts.pod;
  return { node: nodeName === '' ? null : await reader.nodeIfThere(nodeName), pods: [facts] };
}

/** The EvictionPolicies among what was read. */
export function evictionPolicies({ objects }: ClusterPolicies): readonly EvictionPolicy[] {
  return objects.flatMap(({ kind, value }) => (kind === 'EvictionPolicy' ? [value] : []));
}

function choicesOf(facts: PodFacts, node: NodeFacts | null, policies: ClusterPolicies): PodChoices {
  const { pod } = facts;
  const namespace = policies.namespaces.find(({ name }) => name === pod.namespace);
  const subject = { pod, node: node?.node ?? null, namespaceLabels: namespace?.labels ?? null };
  const taints = noExecuteTaints(node).map((taint) => {
    return { taint, choice: explainChoice(evictionPolicies(policies), taint, subject) };
  });
  return { facts, taints };
}

export function noExecuteTaints(node: NodeFacts | null): readonly Taint[] {
  return node?.node.taints.filter(({ effect }) => effect === 'NoExecute') ?? [];
}
