// The fields that a snapshot keeps of each kind: an allowlist, so that no private data is kept.
import type { CollectionKind } from './collections.ts';

const keptAnnotations: readonly string[] = ['deployment.kubernetes.io/revision'];
const ourAnnotations = 'taintmgr.dev/';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The annotations that are kept; that of a mirror pod only marks it as one. */
function annotations(value: unknown): unknown {
  const all = Object.entries(value as Record<string, unknown>);
  const entries = all.flatMap(([name, text]): readonly (readonly [string, unknown])[] => {
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

/** The author and the time of a taint or a cordon: a taint without timeAdded counts from then. */
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

/** The time that a container takes to be ready and to stop, without the way to find out. */
const probe: Shape = whole('initialDelaySeconds periodSeconds failureThreshold successThreshold');
const container: Shape = {
  ...{ name: 'all', image: () => 'redacted', resources: 'all', restartPolicy: 'all' },
  ports: [whole('containerPort hostPort hostIP protocol')],
  ...{ startupProbe: probe, readinessProbe: probe },
  lifecycle: { preStop: { sleep: whole('seconds') } },
};

/** The facts that say if its data is lost with the pod, and on which nodes it can be. */
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
 * The reason of a pause is for people, and may name anything. An unknown field stays, and no controller can
 * follow it: without it the pause would mean something else.
 */
function pauseSpec(value: unknown): unknown {
  const entries = Object.entries(value as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([name, said]) => [name, pauseFields.includes(name) ? said : 'redacted']),
  );
}

/** For which devices a claim asks. */
const claimSpec: Shape = { devices: whole('requests constraints') };

/** The first words of the messages of Events of taint eviction. */
const ofEvictions = ['Marking for deletion', 'Cancelling deletion'];

/** Of an Event of taint eviction. */
export const eventShape: Shape = {
  metadata,
  ...whole('reason type count firstTimestamp lastTimestamp eventTime reportingComponent'),
  source: whole('component'),
  involvedObject: whole('kind namespace name uid'),
  message: (value) => ofEvictions.find((words) => String(value).startsWith(words)),
};

/** The kept fields of each recorded kind. */
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
  PodDisruptionBudget: {
    metadata,
    spec: 'all',
    status: {
      ...whole('observedGeneration disruptedPods disruptionsAllowed currentHealthy'),
      ...whole('desiredHealthy expectedPods'),
      conditions,
    },
  },
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

/** The kept part of a value: all of it, some members, its items, or the result of a function. */
type Shape =
  | 'all'
  | { readonly [member: string]: Shape }
  | readonly [item: Shape]
  | ((value: unknown) => unknown);

/**
 * The kept fields of an object, and of the manifest that kubectl has applied last to it: the last
 * manifest shows which fields a new one takes away. An object of another kind is cut by no shape
 * here, so nothing of it is kept.
 */
export function keptOf(kind: CollectionKind, object: object): object {
  const kept: Kept = Object(keep(shapes[kind], object));
  const given: Kept = Object(object);
  const applied = jsonOf(given.metadata?.annotations?.[lastAppliedAnnotation]);
  if (!applied || (applied.kind !== undefined && applied.kind !== kind)) return kept;
  const text = JSON.stringify(keep(shapes[kind], applied));
  const annotations = { ...kept.metadata?.annotations, [lastAppliedAnnotation]: text };
  return { ...kept, metadata: { ...kept.metadata, annotations } };
}

interface Kept {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, unknown>> };
}

/** Null: it is none, as anybody can write into annotations. */
function jsonOf(text: unknown): { readonly kind?: unknown } | null {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

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
