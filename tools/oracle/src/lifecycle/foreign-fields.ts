// The checker of foreign fields: a client writes only what is its own.

import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from '../checker.ts';
import type { ObservedChange } from '../object-history.ts';
import { type Condition, keyOf } from '../objects.ts';
import type { LifecycleEvidence } from './evidence.ts';
import { isLifecycleTaint, kubeletConditionTypes, taintsOf } from './node-rule.ts';

/** Old names of labels that follow the new ones. */
const followers: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
};
const podConditions: readonly string[] = ['Ready', 'DisruptionTarget'];

/** No write of the client changes on a node or a pod what is not its own to change. */
export class ForeignFieldChecker extends Checker<LifecycleEvidence> {
  observe({ at, change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || type === 'DELETED') return;
    if (resource !== 'nodes' && resource !== 'pods') return;
    const parts = resource === 'nodes' ? nodeParts : podParts;
    const isOwn = (key: string): boolean =>
      this.evidence.terms.ownKeys.some((own) => key.startsWith(own));
    const before = parts(previous, isOwn);
    const after = parts(object, isOwn);
    for (const part of Object.keys(before)) {
      const [was, is] = [JSON.stringify(before[part]), JSON.stringify(after[part])];
      if (was === is) continue;
      const evidence = `${part} of ${resource} ${keyOf(object)}: ${was} became ${is}; run ${by.run}`;
      this.evidence.report({ invariant: 'foreign field', at, evidence });
    }
    if (resource === 'nodes') this.#judgeFollowers(at, previous, object);
  }

  #judgeFollowers(at: number, previous: KubeObject, node: KubeObject): void {
    const [before = {}, after = {}] = [previous.metadata.labels, node.metadata.labels];
    for (const [follower, leader] of Object.entries(followers)) {
      if (before[follower] === after[follower] || after[follower] === after[leader]) continue;
      const evidence = `label ${follower} of nodes ${node.metadata.name}: ${before[follower]} became ${after[follower]}`;
      this.evidence.report({ invariant: 'foreign field', at, evidence });
    }
  }
}

type IsOwn = (key: string) => boolean;
type Parts = Readonly<Record<string, unknown>>;

function metadataParts({ metadata }: KubeObject, isOwn: IsOwn): Parts {
  const foreign = (map: Readonly<Record<string, string>> | undefined): unknown =>
    Object.entries(map ?? {})
      .filter(([key]) => !isOwn(key) && !(key in followers))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    labels: foreign(metadata.labels),
    annotations: foreign(metadata.annotations),
    finalizers: metadata.finalizers,
    ownerReferences: metadata.ownerReferences,
  };
}

function nodeParts(node: KubeObject, isOwn: IsOwn): Parts {
  const { taints: _taints, ...spec } = node.spec ?? {};
  const { conditions = [], ...status } = node.status ?? {};
  const types: readonly string[] = kubeletConditionTypes;
  return {
    ...metadataParts(node, isOwn),
    taints: taintsOf(node).filter((taint) => !isLifecycleTaint(taint) && !isOwn(taint.key)),
    spec,
    status,
    conditions: foreignConditions(conditions, types),
  };
}

function podParts(pod: KubeObject, isOwn: IsOwn): Parts {
  // The legacy mode gives its reason for a pod's end in the status.
  const { conditions = [], reason: _reason, message: _message, ...status } = pod.status ?? {};
  return {
    ...metadataParts(pod, isOwn),
    spec: pod.spec,
    status,
    conditions: foreignConditions(conditions, podConditions),
  };
}

function foreignConditions(conditions: readonly Condition[], own: readonly string[]): unknown {
  return conditions.filter(({ type }) => !own.includes(type));
}
