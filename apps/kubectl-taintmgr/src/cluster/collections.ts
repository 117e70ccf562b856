// The collections of a cluster that decide about evictions: what snapshots hold and simulations read.

/** One of them, and what its objects are. */
export interface Collection {
  readonly apiVersion: string;
  readonly kind: CollectionKind;
  readonly path: string;
}

const kinds = [
  ['v1', 'Namespace', 'namespaces'],
  ['v1', 'Node', 'nodes'],
  ['coordination.k8s.io/v1', 'Lease', 'namespaces/kube-node-lease/leases'],
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'ReplicaSet', 'replicasets'],
  ['apps/v1', 'StatefulSet', 'statefulsets'],
  ['apps/v1', 'DaemonSet', 'daemonsets'],
  ['batch/v1', 'Job', 'jobs'],
  ['v1', 'Pod', 'pods'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'],
] as const;

export type CollectionKind = (typeof kinds)[number][1];

/** In an order in which what others are in comes first. */
export const collections: readonly Collection[] = kinds.map(([apiVersion, kind, plural]) => {
  const root = apiVersion === 'v1' ? '/api' : '/apis';
  return { apiVersion, kind, path: `${root}/${apiVersion}/${plural}` };
});
