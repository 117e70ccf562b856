import { keep, type Shape } from './redaction.ts';

// What of each kind decides about scheduling, evictions and budgets. Everything else stays where it
// is: what may be sensitive is never named here, so a new field is left out by itself.

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

const metadata = {
  name: 'all',
  namespace: 'all',
  uid: 'all',
  generation: 'all',
  creationTimestamp: 'all',
  deletionTimestamp: 'all',
  deletionGracePeriodSeconds: 'all',
  labels: 'all',
  annotations,
  finalizers: 'all',
  ownerReferences: 'all',
} satisfies Shape;

/** By whom and when a node was tainted or cordoned: a taint without timeAdded counts from then. */
const decisiveOwner: Shape = {
  manager: 'all',
  operation: 'all',
  apiVersion: 'all',
  time: 'all',
  subresource: 'all',
  fieldsType: 'all',
  fieldsV1: { 'f:spec': { 'f:taints': 'all', 'f:unschedulable': 'all' } },
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
  {
    type: 'all',
    status: 'all',
    reason: 'all',
    observedGeneration: 'all',
    lastHeartbeatTime: 'all',
    lastProbeTime: 'all',
    lastTransitionTime: 'all',
    lastUpdateTime: 'all',
  },
];

const container: Shape = { name: 'all', image: () => 'redacted', resources: 'all' };

/** Whether its data is lost with the pod is all that matters about a volume. */
const volume: Shape = { name: 'all', emptyDir: () => ({}) };

const podSpec: Shape = {
  nodeName: 'all',
  nodeSelector: 'all',
  affinity: 'all',
  tolerations: 'all',
  topologySpreadConstraints: 'all',
  priority: 'all',
  schedulerName: 'all',
  restartPolicy: 'all',
  terminationGracePeriodSeconds: 'all',
  hostNetwork: 'all',
  overhead: 'all',
  containers: [container],
  initContainers: [container],
  volumes: [volume],
};

const template: Shape = { metadata: { labels: 'all' }, spec: podSpec };
const counts: Shape = {
  replicas: 'all',
  readyReplicas: 'all',
  availableReplicas: 'all',
  updatedReplicas: 'all',
  unavailableReplicas: 'all',
  fullyLabeledReplicas: 'all',
  currentReplicas: 'all',
  currentRevision: 'all',
  updateRevision: 'all',
  observedGeneration: 'all',
  collisionCount: 'all',
  currentNumberScheduled: 'all',
  desiredNumberScheduled: 'all',
  numberAvailable: 'all',
  numberMisscheduled: 'all',
  numberReady: 'all',
  updatedNumberScheduled: 'all',
  active: 'all',
  succeeded: 'all',
  failed: 'all',
  ready: 'all',
  startTime: 'all',
  completionTime: 'all',
  conditions,
};
const workload: Shape = {
  replicas: 'all',
  selector: 'all',
  template,
  strategy: 'all',
  updateStrategy: 'all',
  podManagementPolicy: 'all',
  serviceName: 'all',
  minReadySeconds: 'all',
  revisionHistoryLimit: 'all',
  progressDeadlineSeconds: 'all',
  completions: 'all',
  parallelism: 'all',
  completionMode: 'all',
  backoffLimit: 'all',
  suspend: 'all',
};

/** A kind that is written down: where it is listed, and what is kept. */
export interface SnapshotKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  readonly shape: Shape;
}

function kind(apiVersion: string, name: string, plural: string, shape: Shape): SnapshotKind {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  return { apiVersion, kind: name, path: `${root}/${apiVersion}/${plural}`, shape };
}

const ofWorkload: Shape = { metadata, spec: workload, status: counts };

/** Everything that is written down, in this order: what others are in comes first. */
export const snapshotKinds: readonly SnapshotKind[] = [
  kind('v1', 'Namespace', 'namespaces', {
    metadata,
    spec: { finalizers: 'all' },
    status: { phase: 'all' },
  }),
  kind('v1', 'Node', 'nodes', {
    metadata: { ...metadata, managedFields: nodeOwners },
    spec: { taints: 'all', unschedulable: 'all' },
    status: { capacity: 'all', allocatable: 'all', conditions },
  }),
  kind('coordination.k8s.io/v1', 'Lease', 'namespaces/kube-node-lease/leases', {
    metadata,
    spec: { holderIdentity: 'all', leaseDurationSeconds: 'all', renewTime: 'all' },
  }),
  kind('apps/v1', 'Deployment', 'deployments', ofWorkload),
  kind('apps/v1', 'ReplicaSet', 'replicasets', ofWorkload),
  kind('apps/v1', 'StatefulSet', 'statefulsets', ofWorkload),
  kind('apps/v1', 'DaemonSet', 'daemonsets', ofWorkload),
  kind('batch/v1', 'Job', 'jobs', ofWorkload),
  kind('v1', 'Pod', 'pods', {
    metadata,
    spec: podSpec,
    status: { phase: 'all', reason: 'all', startTime: 'all', qosClass: 'all', conditions },
  }),
  kind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    metadata,
    spec: 'all',
    status: 'all',
  }),
];
