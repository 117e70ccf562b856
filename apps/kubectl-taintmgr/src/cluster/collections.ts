// The collections of a cluster that decide about evictions: what snapshots hold and simulations read.

import { type ApiClient, ApiError, decidingKinds } from '@taintmgr/k8s-adapter/client';
import { policyApiVersion, policyKinds } from '@taintmgr/k8s-adapter/kinds';

/** One of them, and what its objects are. */
export interface Collection {
  readonly apiVersion: string;
  readonly kind: CollectionKind;
  readonly path: string;
  /** The one object of it that decides; left out: all do. */
  readonly name?: string;
}

type Row = readonly [apiVersion: string, kind: string, plural: string, name?: string];

const kinds = [
  ['v1', 'Namespace', 'namespaces'],
  ['v1', 'Node', 'nodes'],
  ['coordination.k8s.io/v1', 'Lease', 'namespaces/kube-node-lease/leases'],
  // Since when it leads its timers run.
  ['coordination.k8s.io/v1', 'Lease', 'namespaces/kube-system/leases', 'kube-controller-manager'],
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'ReplicaSet', 'replicasets'],
  ['apps/v1', 'StatefulSet', 'statefulsets'],
  ['apps/v1', 'DaemonSet', 'daemonsets'],
  ['batch/v1', 'Job', 'jobs'],
  ['v1', 'Pod', 'pods'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'],
] as const satisfies readonly Row[];

export type CollectionKind = (typeof kinds)[number][1] | (typeof decidingKinds)[number];

/** In an order in which what others are in comes first. */
export const collections: readonly Collection[] = [
  ...kinds.map(([apiVersion, kind, plural, name]) => {
    const root = apiVersion === 'v1' ? '/api' : '/apis';
    return { apiVersion, kind, path: `${root}/${apiVersion}/${plural}`, ...(name && { name }) };
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
  { apiVersion, path, name }: Collection,
): Promise<readonly object[]> {
  const selectors = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  try {
    return (await client.list(path, selectors)) as readonly object[];
  } catch (error) {
    const isAbsent = error instanceof ApiError && error.failure.status === 404;
    if (isAbsent && apiVersion === policyApiVersion) return [];
    throw error;
  }
}
