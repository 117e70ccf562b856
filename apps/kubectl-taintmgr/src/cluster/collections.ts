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
  /** Whether pods are placed by it and nothing else: where it may not be read, much is known all the same. */
  readonly isOfPlacement: boolean;
  /** Whether it is about devices, and nothing to a cluster where no pod claims any. */
  readonly isOfDevices: boolean;
}

type Row = readonly [apiVersion: string, kind: string, plural: string, name?: string];

/** By which pods are placed. */
const placing = [
  ['v1', 'Service', 'services'],
  ['v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'],
  ['v1', 'PersistentVolume', 'persistentvolumes'],
  ['storage.k8s.io/v1', 'StorageClass', 'storageclasses'],
  ['storage.k8s.io/v1', 'CSINode', 'csinodes'],
  ['scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses'],
] as const satisfies readonly Row[];

const kinds = [
  ['v1', 'Namespace', 'namespaces'],
  ['v1', 'Node', 'nodes'],
  ['coordination.k8s.io/v1', 'Lease', 'namespaces/kube-node-lease/leases'],
  // Since when it leads its timers run.
  ['coordination.k8s.io/v1', 'Lease', 'namespaces/kube-system/leases', 'kube-controller-manager'],
  // Whether ours leads.
  ['coordination.k8s.io/v1', 'Lease', 'leases', 'taintmgr-controller'],
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'ReplicaSet', 'replicasets'],
  ['apps/v1', 'StatefulSet', 'statefulsets'],
  ['apps/v1', 'DaemonSet', 'daemonsets'],
  ['batch/v1', 'Job', 'jobs'],
  ['v1', 'Pod', 'pods'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'],
] as const satisfies readonly Row[];

const ofDevices = [
  ['resource.k8s.io/v1', 'DeviceClass', 'deviceclasses'],
  ['resource.k8s.io/v1', 'ResourceSlice', 'resourceslices'],
  ['resource.k8s.io/v1', 'ResourceClaim', 'resourceclaims'],
  ['resource.k8s.io/v1', 'ResourceClaimTemplate', 'resourceclaimtemplates'],
  ['resource.k8s.io/v1', 'DeviceTaintRule', 'devicetaintrules'],
] as const satisfies readonly Row[];

export type CollectionKind =
  | (typeof kinds | typeof placing | typeof ofDevices)[number][1]
  | (typeof decidingKinds)[number];

/** In an order in which what others are in comes first. */
export const collections: readonly Collection[] = [
  ...placing.map((row) => collectionOf(row, true)),
  ...kinds.map((row) => collectionOf(row, false)),
  ...ofDevices.map((row) => ({ ...collectionOf(row, true), isOfDevices: true })),
  ...decidingKinds.map((kind) => {
    const path = `/apis/${policyApiVersion}/${policyKinds[kind].plural}`;
    const apiVersion = policyApiVersion;
    return { apiVersion, kind, path, isOfPlacement: false, isOfDevices: false };
  }),
];

function collectionOf(
  [apiVersion, kind, plural, name]: Row & { readonly 1: CollectionKind },
  isOfPlacement: boolean,
): Collection {
  const path = `${apiVersion === 'v1' ? '/api' : '/apis'}/${apiVersion}/${plural}`;
  return { apiVersion, kind, path, isOfPlacement, isOfDevices: false, ...(name && { name }) };
}

/** The pods of a cluster, or what makes them, as far as devices go. */
interface Claiming {
  readonly spec?: {
    readonly resourceClaims?: readonly object[];
    readonly template?: Claiming;
  };
}

/** Whether an object is a pod that claims devices, or makes such pods. */
export function claimsDevices({ spec }: Claiming): boolean {
  if ((spec?.resourceClaims ?? []).length > 0) return true;
  return spec?.template !== undefined && claimsDevices(spec.template);
}

/**
 * What is in one; none of a kind of ours, or of devices, that the cluster does not serve. Throws ApiError and
 * ConnectionError.
 */
export async function listCollection(
  client: ApiClient,
  collection: Collection,
): Promise<readonly object[]> {
  const { apiVersion, path, name, isOfDevices } = collection;
  const selectors = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  try {
    return (await client.list(path, selectors)) as readonly object[];
  } catch (error) {
    const isAbsent = error instanceof ApiError && error.failure.status === 404;
    if (isAbsent && apiVersion === policyApiVersion) return [];
    if (!isAbsent || !isOfDevices) throw error;
    const beta = path.replace('/v1/', '/v1beta2/');
    // Both versions look alike.
    return beta === path ? [] : await listCollection(client, { ...collection, path: beta });
  }
}
