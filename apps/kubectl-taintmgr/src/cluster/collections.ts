// The collections of a cluster that decide about evictions: what snapshots hold and simulations read.

import { type ApiClient, decidingKinds } from '@taintmgr/k8s-adapter/client';
import { policyApiVersion, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { type ClusterReader, devicePaths, unless } from '@taintmgr/k8s-adapter/survey';

/** A collection, and the kind of its objects. */
export interface Collection {
  readonly apiVersion: string;
  readonly kind: CollectionKind;
  readonly path: string;
  /** The one object of it that decides; left out: all do. */
  readonly name?: string;
  /** True where it only serves to place pods: without it, much is still known. */
  readonly isOfPlacement: boolean;
  /** True where it is about devices, and irrelevant to a cluster without claims. */
  readonly isOfDevices: boolean;
}

type Row = readonly [apiVersion: string, kind: string, plural: string, name?: string];

/** The objects by which pods are placed. */
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
  // Its timers run since it leads.
  ['coordination.k8s.io/v1', 'Lease', 'namespaces/kube-system/leases', 'kube-controller-manager'],
  // Its holder shows if taintmgr-controller leads.
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

/** In an order in which containing objects come first. */
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

/** True for a pod that claims devices, and for an object that makes such pods. */
export function claimsDevices({ spec }: Claiming): boolean {
  if ((spec?.resourceClaims ?? []).length > 0) return true;
  return spec?.template !== undefined && claimsDevices(spec.template);
}

/**
 * Returns the objects of a collection; none of a kind of ours, or of devices, that the cluster does not
 * serve. Throws ApiError and ConnectionError.
 */
export async function listCollection(
  client: ApiClient,
  collection: Collection,
  reader: ClusterReader,
): Promise<readonly object[]> {
  const { apiVersion, name, isOfDevices } = collection;
  const selectors = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  const path = isOfDevices ? await devicePath(collection, reader) : collection.path;
  if (path === null) return [];
  const list = () => client.list(path, selectors) as Promise<readonly object[]>;
  const mayLack = isOfDevices || apiVersion === policyApiVersion;
  return mayLack ? await unless(404, list, []) : await list();
}

/** Where the cluster serves a kind of devices, in a version whose objects look as those of v1 do; null: nowhere. */
async function devicePath({ path }: Collection, reader: ClusterReader): Promise<string | null> {
  const paths = await devicePaths(reader);
  if (!paths) return path;
  const plural = path.slice(path.lastIndexOf('/'));
  // Beside claims there are the kinds that claims are made from.
  const beside = paths.resourceclaims?.replace(/\/[^/]*$/, plural) ?? null;
  const served = plural === '/devicetaintrules' ? paths.devicetaintrules : beside;
  return served?.includes('/v1beta1/') ? null : served;
}
