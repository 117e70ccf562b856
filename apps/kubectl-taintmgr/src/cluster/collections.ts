// The collections of a cluster that decide about evictions: what snapshots hold and simulations read.
import { policyApiVersion, policyKinds } from '@taintmgr/core/policy';
import { type ApiClient, ApiError, decidingKinds } from '@taintmgr/k8s-adapter/client';

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

export type CollectionKind = (typeof kinds)[number][1] | (typeof decidingKinds)[number];

/** In an order in which what others are in comes first. */
export const collections: readonly Collection[] = [
  ...kinds.map(([apiVersion, kind, plural]) => {
    const root = apiVersion === 'v1' ? '/api' : '/apis';
    return { apiVersion, kind, path: `${root}/${apiVersion}/${plural}` };
  }),
  ...decidingKinds.map((kind) => {
    const path = `/apis/${policyApiVersion}/${policyKinds[kind].plural}`;
    return { apiVersion: policyApiVersion, kind, path };
  }),
];

/**
 * What is in one; none of a kind of ours that the cluster does not serve. Throws ApiError and
 * ConnectionError.
 */
export async function listCollection(
  client: ApiClient,
  { apiVersion, path }: Collection,
): Promise<readonly object[]> {
  try {
    return (await client.list(path)) as readonly object[];
  } catch (error) {
    const isAbsent = error instanceof ApiError && error.failure.status === 404;
    if (isAbsent && apiVersion === policyApiVersion) return [];
    throw error;
  }
}

const managerLeasePath =
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';

/**
 * The lease of kube-controller-manager, which says since when its timers run; none where it is not there
 * or not to be seen. Throws ApiError and ConnectionError.
 */
export async function managerLease(client: ApiClient): Promise<readonly object[]> {
  try {
    const lease = (await client.get(managerLeasePath)) as object;
    return [{ ...lease, apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }];
  } catch (error) {
    const status = error instanceof ApiError ? error.failure.status : null;
    if (status === 403 || status === 404) return [];
    throw error;
  }
}
