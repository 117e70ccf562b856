// The kinds of workloads that the cluster's controllers look after.

import type { ControllerContext } from '../controllers/controller.ts';
import { isActive, isReady } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { daemonSetKind } from './daemon-set.ts';
import { deploymentKind } from './deployment.ts';
import { jobKind } from './job.ts';
import { statefulSetKind } from './stateful-set.ts';
import { createPod, deletePod, podsPerSyncMax, setStatus, type WorkloadKind } from './workload.ts';

/**
 * Keeps the pods of a ReplicaSet, with generated names; pods that end or are deleted are replaced.
 */
const replicaSetKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  creates: 'pods',
  sync: syncReplicaSet,
};

function syncReplicaSet(context: ControllerContext, set: KubeObject): void {
  const { active, ready } = context.lookup.replicasOf(set);
  setStatus(context.api, replicaSetKind, set, {
    observedGeneration: set.metadata.generation,
    replicas: active,
    fullyLabeledReplicas: active,
    readyReplicas: ready,
    availableReplicas: ready,
  });
  const missing: number = (set.spec.replicas ?? 1) - active;
  const created = Math.min(missing, podsPerSyncMax);
  for (let count = 0; count < created; count++) createPod(context.api, replicaSetKind, set, {});
  if (missing >= 0) return;
  const pods = context.lookup.ownedBy(set, 'pods').filter(isActive);
  const surplus = [...pods].sort(byDispensability).slice(0, -missing);
  for (const pod of surplus) deletePod(context.api, pod);
}

/** Unbound pods go first, then those that are not ready, then the youngest. */
function byDispensability(a: KubeObject, b: KubeObject): number {
  const rank = (pod: KubeObject): number => (pod.spec.nodeName ? 1 : 0) + (isReady(pod) ? 1 : 0);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  const born = (pod: KubeObject): number => Date.parse(pod.metadata.creationTimestamp ?? '');
  if (born(a) !== born(b)) return born(b) - born(a);
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

export const workloadKinds: readonly WorkloadKind[] = [
  deploymentKind,
  replicaSetKind,
  statefulSetKind,
  daemonSetKind,
  jobKind,
];

/** These resources and what they create. */
export const workloadResources: ReadonlySet<string> = new Set(
  workloadKinds.flatMap(({ resource, creates }) => [resource, creates]),
);
