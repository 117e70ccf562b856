// Says when a cluster is at rest.

import type { KubeObject } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import { conditionOf, isReady, isTerminal, isTerminating } from './pods.ts';

/** When an object of the resource needs nothing more to happen. */
const idleWhen: Readonly<Record<string, (object: KubeObject) => boolean>> = {
  namespaces: (namespace) => !isTerminating(namespace),
  nodes: isReady,
  pods: (pod) => !isTerminating(pod) && (isTerminal(pod) || isReady(pod)),
  deployments: ({ spec, status }) =>
    spec.paused
      ? (status?.availableReplicas ?? 0) >= spec.replicas
      : [status?.replicas, status?.availableReplicas, status?.updatedReplicas].every(
          (count) => (count ?? 0) === spec.replicas,
        ),
  replicasets: ({ spec, status }) => (status?.readyReplicas ?? 0) === spec.replicas,
  statefulsets: ({ spec, status }) =>
    [status?.replicas, status?.readyReplicas].every((count) => (count ?? 0) === spec.replicas) &&
    (status?.updatedReplicas ?? 0) >= updatedAtRest(spec),
  daemonsets: ({ spec, status }) =>
    status?.numberReady === status?.desiredNumberScheduled &&
    (spec.updateStrategy?.type === 'OnDelete' ||
      (status?.updatedNumberScheduled ?? 0) === status?.desiredNumberScheduled),
  jobs: (job) =>
    ['Complete', 'Failed'].some((type) => conditionOf(job, type)) ||
    (job.spec.suspend ? !job.status?.active : (job.status?.ready ?? 0) > 0),
  poddisruptionbudgets: () => true,
};

/** The number of pods of a StatefulSet that its rolling update reaches. */
function updatedAtRest({ replicas, updateStrategy }: KubeObject['spec']): number {
  if (updateStrategy?.type === 'OnDelete') return 0;
  return replicas - (updateStrategy?.rollingUpdate?.partition ?? 0);
}

/** True if no object in the cluster waits for one of the cluster's own parts. */
export function isIdle(api: ClusterApi): boolean {
  return Object.keys(idleWhen).every((resource) =>
    api.list(resource).every((object) => isSettled(resource, object)),
  );
}

/**
 * Tells whether an object waits for none of the cluster's own parts; an object of a kind that no
 * part acts on never waits.
 */
export function isSettled(resource: string, object: KubeObject): boolean {
  return idleWhen[resource] === undefined || (isObserved(object) && idleWhen[resource](object));
}

/** Jobs have no observedGeneration, nodes no generation; of pods only the kubelet's is kept. */
function isObserved({ kind, metadata, status }: KubeObject): boolean {
  if (kind === 'Job' || metadata.generation === undefined) return true;
  return status?.observedGeneration === metadata.generation;
}
