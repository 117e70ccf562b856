// The unsimulated parts that decide about workloads of a cluster: the rows of those workloads may be wrong.
import type { Recording } from '@taintmgr/page';
import {
  type Cluster,
  type KubeObject,
  type UnknownRule,
  unknownRulesOf,
} from '@taintmgr/sim-cluster';
import { workloadKeyOf } from '../times/pod-times.ts';
import { selectsDevice } from './device-selector.ts';

/** The unknowns of workloads, by `shop/web`. */
export type Unknowns = ReadonlyMap<string, readonly string[]>;

/** The owners whose pods the simulation recreates. */
const owning: Readonly<Record<string, string>> = {
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
  Job: 'jobs',
};

/** The requests of a cluster's pods that the simulation does not serve. */
export function unknownsIn(api: Cluster['api']): Unknowns {
  const found = new Map<string, Set<string>>();
  for (const pod of api.list('pods')) {
    const whats = unknownOf(pod, api);
    const { namespace, ownerReferences } = pod.metadata;
    const owner = ownerReferences?.find(({ controller }) => controller);
    // A ReplicaSet without its Deployment has a separate row.
    const keys = new Set([workloadKeyOf(pod), ...(owner ? [`${namespace}/${owner.name}`] : [])]);
    for (const key of whats.length === 0 ? [] : keys) {
      found.set(key, new Set([...(found.get(key) ?? []), ...whats]));
    }
  }
  return new Map(Array.from(found, ([key, whats]) => [key, [...whats]] as const));
}

/** The unknown rules of the pods that a workload will make; empty for an object without pods. */
export function templateUnknowns(
  { metadata, spec }: KubeObject,
  api: Cluster['api'],
): readonly string[] {
  if (!spec?.template?.spec) return [];
  const { name, namespace = '' } = metadata;
  const pod = { ...spec.template, metadata: { ...spec.template.metadata, name, namespace } };
  return unknownRulesOf(pod, api, selectsDevice).map(ruleText);
}

function ruleText(unknown: UnknownRule): string {
  return unknown.rule === 'schedulerName'
    ? `scheduler ${unknown.schedulerName} places its pods`
    : `its pods claim devices: ${unknown.why}`;
}

function unknownOf(pod: KubeObject, api: Cluster['api']): readonly string[] {
  const owner = strangerOf(pod, api);
  return [
    ...unknownRulesOf(pod, api, selectsDevice).map(ruleText),
    ...(owner === null ? [] : [`${owner} makes its pods`]),
  ];
}

/** The kind of an owner that is missing or unknown: no controller recreates its pods. */
export function strangerOf({ metadata }: KubeObject, api: Cluster['api']): string | null {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  if (!owner || owner.kind === 'Node') return null;
  const resource = Object.hasOwn(owning, owner.kind) ? owning[owner.kind] : undefined;
  return resource && api.get(resource, metadata.namespace ?? '', owner.name) ? null : owner.kind;
}

/** Kinds of others by which a cluster shows that it gets nodes by itself. */
const autoscalerKinds = new Set(['NodePool', 'NodeClaim', 'Provisioner', 'Machine']);
const autoscalerNames = /cluster-autoscaler|karpenter/;

/** True where a program in a cluster adds nodes for pods that fit on none. */
export function hasAutoscaler(api: Cluster['api'], foreignKinds: readonly string[]): boolean {
  if (foreignKinds.some((kind) => autoscalerKinds.has(kind))) return true;
  return api.list('deployments').some(({ metadata }) => autoscalerNames.test(metadata.name));
}

/** The same after a run: pods that fitted nowhere might have got a node. */
export function withUnplaced(known: Unknowns, { unplaced }: Pick<Recording, 'unplaced'>): Unknowns {
  const all = new Map(known);
  for (const { workload } of unplaced) {
    const key = workload?.slice(workload.indexOf(' ') + 1) ?? '';
    const why = 'an autoscaler may add nodes';
    const before = all.get(key) ?? [];
    if (key !== '' && !before.includes(why)) all.set(key, [...before, why]);
  }
  return all;
}
