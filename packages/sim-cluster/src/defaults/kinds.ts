// The defaults of every kind but Pod, Service and RBAC.

import { isObject, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { defaultPodSpec } from './pod.ts';

// The defaults of RBAC kinds.

const rbacGroup = 'rbac.authorization.k8s.io';

interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly namespace?: string;
}

/** A new or changed binding, with the API groups of its role and subjects filled in. */
export function withBindingDefaults(binding: KubeObject): KubeObject {
  const subjects: readonly Subject[] = binding.subjects ?? [];
  const { apiGroup } = binding.roleRef;
  return {
    ...binding,
    ...(subjects.length > 0 ? { subjects: subjects.map(named) } : {}),
    roleRef: { ...binding.roleRef, apiGroup: apiGroup || rbacGroup },
  };
}

function named({ kind, apiGroup, ...rest }: Subject): Subject {
  const group = kind === 'ServiceAccount' ? apiGroup : (apiGroup ?? rbacGroup);
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(group ? { apiGroup: group } : {}),
    ...rest,
  };
}

const notReadyKey = 'node.kubernetes.io/not-ready';

interface Taint {
  readonly key: string;
  readonly effect: string;
}

/** A new node: TaintNodesByCondition adds not-ready:NoSchedule; the status sent is kept. */
export function admitNode(node: KubeObject): KubeObject {
  const taints: readonly Taint[] = node.spec.taints ?? [];
  const tainted = taints.some(({ key, effect }) => key === notReadyKey && effect === 'NoSchedule');
  const added = tainted ? taints : [...taints, { key: notReadyKey, effect: 'NoSchedule' }];
  return withPodCidrs({ ...node, spec: { ...node.spec, taints: added } });
}

/** `podCIDR` is the first of `podCIDRs`; a client may give either. */
export function withPodCidrs(node: KubeObject): KubeObject {
  const { podCIDR, podCIDRs } = node.spec;
  if (podCIDR && !podCIDRs) return { ...node, spec: { ...node.spec, podCIDRs: [podCIDR] } };
  if (podCIDR && podCIDRs[0] !== podCIDR) {
    return { ...node, spec: { ...node.spec, podCIDRs: [podCIDR] } };
  }
  return podCIDRs && !podCIDR ? { ...node, spec: { ...node.spec, podCIDR: podCIDRs[0] } } : node;
}

/** A new namespace: active, held by the namespace controller's finalizer. */
export function admitNamespace(namespace: KubeObject): KubeObject {
  return { ...namespace, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

/** A namespace is labelled with its name, whatever a client makes of the label. */
export function withNameLabel(namespace: KubeObject): KubeObject {
  const { metadata } = namespace;
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  return { ...namespace, metadata: { ...metadata, labels } };
}

type Spec = KubeObject['spec'];

function withTemplateDefaults(spec: Spec): Spec {
  const template = spec.template ?? {};
  const inner = defaultPodSpec(template.spec ?? {});
  return { ...spec, template: { ...template, spec: inner } };
}

const rollingDeployment = {
  type: 'RollingUpdate',
  rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
};
const rollingDaemonSet = {
  type: 'RollingUpdate',
  rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
};
const rollingStatefulSet = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } };

const maxInt32 = 2 ** 31 - 1;

/** The defaults of each workload's spec beside those of its pod template. */
const workloadDefaults: Readonly<Record<string, Spec>> = {
  Deployment: {
    replicas: 1,
    strategy: rollingDeployment,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  },
  ReplicaSet: { replicas: 1 },
  ReplicationController: { replicas: 1 },
  StatefulSet: {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: rollingStatefulSet,
    revisionHistoryLimit: 10,
  },
  DaemonSet: { updateStrategy: rollingDaemonSet, revisionHistoryLimit: 10 },
  Job: {
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
  },
};

/** A new workload has an empty status. */
export function admitWorkload(workload: KubeObject): KubeObject {
  const admitted = { ...workload, status: {} };
  return workload.kind === 'Job' ? withJobSelector(admitted) : admitted;
}

/** A new or changed workload with its defaults. */
export function withWorkloadDefaults(workload: KubeObject): KubeObject {
  const defaults = workloadDefaults[workload.kind ?? ''] ?? {};
  const spec = { ...defaults, ...workload.spec };
  if (workload.kind === 'Job') setLimitDefaults(spec, workload.spec);
  // With a parallelism alone, its pods are workers at one queue: none says how many have to succeed.
  if (workload.kind === 'Job' && workload.spec.parallelism === undefined) spec.completions ??= 1;
  for (const member of ['strategy', 'updateStrategy'] as const) {
    if (defaults[member]) spec[member] = withStrategyDefaults(spec[member], defaults[member]);
  }
  return { ...workload, spec: withTemplateDefaults(spec) };
}

/**
 * A Job whose indexes have limits has no limit itself; a Job with a failure policy replaces pods
 * only after their end.
 */
function setLimitDefaults(spec: Spec, given: Spec): void {
  if (given.backoffLimitPerIndex !== undefined) spec.backoffLimit = given.backoffLimit ?? maxInt32;
  if (given.podFailurePolicy) spec.podReplacementPolicy = given.podReplacementPolicy ?? 'Failed';
}

/** Each number of a rolling update has its default, also where the type is left out. */
function withStrategyDefaults(given: Spec, defaults: Spec): Spec {
  const type = given.type || defaults.type;
  if (type !== defaults.type) return given;
  return { ...given, type, rollingUpdate: { ...defaults.rollingUpdate, ...given.rollingUpdate } };
}

/** A Job selects its pods by its own uid unless the client selects by hand. */
function withJobSelector(job: KubeObject): KubeObject {
  if (job.spec.manualSelector) return job;
  const { name, uid = '' } = job.metadata;
  const mark = { 'batch.kubernetes.io/controller-uid': uid };
  const { template } = job.spec;
  const labels = {
    ...template.metadata?.labels,
    ...mark,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  return {
    ...job,
    spec: {
      ...job.spec,
      selector: { matchLabels: mark },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** A new object whose status another part writes, as that of a PodDisruptionBudget. */
export function withEmptyStatus(object: KubeObject): KubeObject {
  return { ...object, status: {} };
}

// The defaults of a Secret.

/** A new or changed Secret: one without a type is Opaque, and what a client gives as text becomes data. */
export function withSecretDefaults(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  const typed = { ...rest, type: secret.type || 'Opaque' };
  if (!isObject(stringData)) return typed;
  const data: JsonObject = { ...rest.data };
  for (const [key, text] of Object.entries(stringData)) {
    data[key] = Buffer.from(String(text)).toString('base64');
  }
  return { ...typed, data };
}
