// Writes what simulate needs of a cluster into files: snapshot.
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { count, jsonText } from '@taintmgr/k8s-adapter/command-line';
import { ClusterReader, describeRight, type Right } from '@taintmgr/k8s-adapter/survey';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import { warn } from '../cli/output.ts';
import type { Invocation } from '../cli/registry.ts';
import {
  type Collection,
  type CollectionKind,
  claimsDevices,
  collections,
  listCollection,
} from '../cluster/collections.ts';

/** The command line of `snapshot`. */
export interface SnapshotFlags {
  readonly output: 'json' | 'yaml';
}

/** `snapshot`: reads the cluster once and prints what of it decides about evictions. */
export async function run(invocation: Invocation<SnapshotFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  return await withConnection(invocation, async ({ client }) => {
    const items: object[] = [];
    const reader = new ClusterReader(client);
    let isClaiming = false;
    for (const each of collections) {
      if (each.isOfDevices && !isClaiming) continue;
      const found = await readKind(client, each, reader);
      if (found === null)
        warn(output, `skipped: no permission to ${describeRight(rightFor(each))}`);
      items.push(...(found ?? []));
      isClaiming ||= found?.some(claimsDevices) ?? false;
    }
    if (flags.output === 'yaml') await writeYaml(invocation, items);
    else writeJson(invocation, items);
    await output.flushed();
    output.err(`${count(items.length, 'object')} written`);
    return exitCode.done;
  });
}

/** What it takes to list a kind. */
function rightFor({ apiVersion, path, name }: Collection): Right {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
  const resource = path.split('/').at(-1) ?? '';
  return { verb: 'list', group, resource, ...(namespace && { namespace }), ...(name && { name }) };
}

/** The objects of a kind, redacted; null without permission to list them. */
async function readKind(
  client: ApiClient,
  collection: Collection,
  reader: ClusterReader,
): Promise<readonly object[] | null> {
  const { apiVersion, kind } = collection;
  try {
    const objects = await listCollection(client, collection, reader);
    return objects.map((object) => ({
      apiVersion,
      kind,
      ...(keep(shapes[kind], object) as object),
    }));
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 403) return null;
    throw error;
  }
}

const list = { apiVersion: 'v1', kind: 'List', metadata: {} };

/** Object by object: the whole may be longer than a string can be. */
function writeJson({ output }: Invocation<SnapshotFlags>, items: readonly object[]): void {
  const head = JSON.stringify(list).slice(0, -1);
  output.write(`${head},"items":[`);
  for (const [index, item] of items.entries()) {
    output.write(`${index === 0 ? '\n' : ',\n'}${jsonText(item)}`);
  }
  output.write('\n]}\n');
}

async function writeYaml(
  { output }: Invocation<SnapshotFlags>,
  items: readonly object[],
): Promise<void> {
  const { yamlOf } = await import('../render/yaml.ts');
  output.write(`${yamlOf(list)}items:\n`);
  for (const item of items) output.write(yamlOf([item]));
}

const keptAnnotations: readonly string[] = ['deployment.kubernetes.io/revision'];
const ourAnnotations = 'taintmgr.dev/';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Which annotations are kept; that of a mirror pod says only that it is one. */
function annotations(value: unknown): unknown {
  const entries = Object.entries(value as Record<string, unknown>).flatMap(([name, text]) => {
    if (name === mirrorAnnotation) return [[name, 'redacted'] as const];
    return keptAnnotations.includes(name) || name.startsWith(ourAnnotations)
      ? [[name, text] as const]
      : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Members that are kept as they are, by their names. */
function whole(names: string): Readonly<Record<string, 'all'>> {
  const members = names.trim().split(/\s+/);
  return Object.fromEntries(members.map((name) => [name, 'all'] as const));
}

const metadata: Shape & object = {
  ...whole(`
    name namespace uid generation labels finalizers ownerReferences
    creationTimestamp deletionTimestamp deletionGracePeriodSeconds
  `),
  annotations,
};

/** By whom and when a node was tainted or cordoned: a taint without timeAdded counts from then. */
const decisiveOwner: Shape = {
  ...whole('manager operation apiVersion time subresource fieldsType'),
  fieldsV1: { 'f:spec': whole('f:taints f:unschedulable') },
};

/** Owners of anything else are left out. */
function nodeOwners(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  const owners = value
    .map((entry) => keep(decisiveOwner, entry) as NodeOwner | undefined)
    .filter((owner) => Object.keys(owner?.fieldsV1?.['f:spec'] ?? {}).length > 0);
  return owners.length === 0 ? undefined : owners;
}

interface NodeOwner {
  readonly fieldsV1?: { readonly 'f:spec'?: object };
}

/** Messages may name anything. */
const conditions: Shape = [
  whole(`
    type status reason observedGeneration
    lastHeartbeatTime lastProbeTime lastTransitionTime lastUpdateTime
  `),
];

/** How long a container takes to be ready and to stop, not how that is found out. */
const probe: Shape = whole('initialDelaySeconds periodSeconds failureThreshold successThreshold');
const container: Shape = {
  ...{ name: 'all', image: () => 'redacted', resources: 'all', restartPolicy: 'all' },
  ports: [whole('containerPort hostPort hostIP protocol')],
  ...{ startupProbe: probe, readinessProbe: probe },
  lifecycle: { preStop: { sleep: whole('seconds') } },
};

/** Whether its data is lost with the pod, and on which nodes it can be. */
const volume: Shape = {
  name: 'all',
  emptyDir: () => ({}),
  persistentVolumeClaim: whole('claimName readOnly'),
  ephemeral: { volumeClaimTemplate: { spec: 'all' } },
};

const podSpec: Shape = {
  ...whole(`
    nodeName nodeSelector affinity tolerations topologySpreadConstraints priority schedulerName
    restartPolicy terminationGracePeriodSeconds hostNetwork overhead resources schedulingGates
    preemptionPolicy priorityClassName resourceClaims
  `),
  containers: [container],
  initContainers: [container],
  volumes: [volume],
};

const ofWorkload: Shape = {
  metadata,
  spec: {
    ...whole(`
      replicas selector strategy updateStrategy podManagementPolicy serviceName minReadySeconds
      revisionHistoryLimit progressDeadlineSeconds completions parallelism completionMode
      backoffLimit suspend paused ordinals podFailurePolicy podReplacementPolicy
      backoffLimitPerIndex maxFailedIndexes ttlSecondsAfterFinished activeDeadlineSeconds
    `),
    template: { metadata: { ...whole('labels'), annotations }, spec: podSpec },
    volumeClaimTemplates: [{ metadata: whole('name labels'), spec: 'all' }],
  },
  status: {
    ...whole(`
      replicas readyReplicas availableReplicas updatedReplicas unavailableReplicas
      fullyLabeledReplicas currentReplicas currentRevision updateRevision observedGeneration
      collisionCount currentNumberScheduled desiredNumberScheduled numberAvailable
      numberMisscheduled numberReady updatedNumberScheduled active succeeded failed ready
      startTime completionTime
    `),
    conditions,
  },
};

const pauseFields = ['scope', 'deadlines', 'readiness', 'until'];

/**
 * Why evictions are held is said for people, and may name anything. A field that we do not know stays
 * one that nobody can follow: without it the pause would say something else.
 */
function pauseSpec(value: unknown): unknown {
  const entries = Object.entries(value as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([name, said]) => [name, pauseFields.includes(name) ? said : 'redacted']),
  );
}

/** For which devices a claim asks. */
const claimSpec: Shape = { devices: whole('requests constraints') };

/** What is kept of each kind that is written down. */
export const shapes: Readonly<Record<CollectionKind, Shape>> = {
  Namespace: { metadata, spec: whole('finalizers'), status: whole('phase') },
  Node: {
    metadata: { ...metadata, managedFields: nodeOwners },
    spec: whole('taints unschedulable'),
    status: { ...whole('capacity allocatable'), conditions, nodeInfo: whole('kubeletVersion') },
  },
  Lease: { metadata, spec: whole('holderIdentity leaseDurationSeconds acquireTime renewTime') },
  Deployment: ofWorkload,
  ReplicaSet: ofWorkload,
  StatefulSet: ofWorkload,
  DaemonSet: ofWorkload,
  Job: ofWorkload,
  Pod: {
    metadata,
    spec: podSpec,
    status: { ...whole('phase reason startTime qosClass resourceClaimStatuses'), conditions },
  },
  PodDisruptionBudget: { metadata, ...whole('spec status') },
  Service: { metadata, spec: whole('selector') },
  PriorityClass: { metadata, ...whole('value globalDefault preemptionPolicy') },
  PersistentVolumeClaim: {
    metadata,
    spec: whole('accessModes resources selector storageClassName volumeMode volumeName'),
    status: whole('phase accessModes capacity'),
  },
  // Where a volume lies, and not on which disk.
  PersistentVolume: {
    metadata,
    spec: {
      ...whole('accessModes capacity claimRef nodeAffinity storageClassName volumeMode'),
      csi: { driver: 'all', volumeHandle: () => 'redacted' },
    },
    status: whole('phase'),
  },
  StorageClass: { metadata, ...whole('provisioner volumeBindingMode allowedTopologies') },
  CSINode: { metadata, spec: 'all' },
  // Parameters are for drivers.
  DeviceClass: { metadata, spec: whole('selectors extendedResourceName') },
  ResourceSlice: { metadata, spec: 'all' },
  ResourceClaim: {
    metadata,
    spec: claimSpec,
    status: {
      allocation: { devices: whole('results'), ...whole('nodeSelector allocationTimestamp') },
      ...whole('reservedFor'),
    },
  },
  ResourceClaimTemplate: { metadata, spec: { spec: claimSpec } },
  DeviceTaintRule: { metadata, spec: 'all', status: { conditions } },
  EvictionPolicy: { metadata, spec: 'all' },
  NodeTaintRule: { metadata, spec: 'all' },
  EvictionPause: {
    metadata,
    spec: pauseSpec,
    status: whole('since'),
  },
};

/** What is kept of a value: all of it, some members of it, its items, or what a function makes of it. */
type Shape =
  | 'all'
  | { readonly [member: string]: Shape }
  | readonly [item: Shape]
  | ((value: unknown) => unknown);

/** Only what the shape names; the rest is left out. */
export function keep(shape: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (shape === 'all') return value;
  if (typeof shape === 'function') return shape(value);
  if (isItemShape(shape)) {
    return Array.isArray(value) ? value.map((item) => keep(shape[0], item)) : undefined;
  }
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = Object.hasOwn(shape, name) ? keep(shape[name] ?? 'all', member) : undefined;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(members);
}

function isItemShape(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
