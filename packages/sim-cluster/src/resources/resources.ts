import {
  admitNamespace,
  admitNode,
  admitWorkload,
  withBindingDefaults,
  withEmptyStatus,
  withNameLabel,
  withPodCidrs,
  withSecretDefaults,
  withWorkloadDefaults,
} from '../defaults/kinds.ts';
import { admitPod, podDefaults, withPodDefaults } from '../defaults/pod.ts';
import { admitEndpointSlice, admitNewService, admitService } from '../defaults/service.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import * as core from '../schema/core.ts';
import * as network from '../schema/network.ts';
import { node } from '../schema/node.ts';
import { pod } from '../schema/pod.ts';
import * as rbac from '../schema/rbac.ts';
import type { Struct } from '../schema/types.ts';
import * as workloads from '../schema/workloads.ts';
import {
  validateConfigMap,
  validateConfigMapUpdate,
  validateSecretUpdate,
} from '../validation/config-map.ts';
import { validateEvent, validateEventUpdate } from '../validation/event.ts';
import * as rules from '../validation/kinds.ts';
import { validateMetadata } from '../validation/metadata.ts';
import { validatePod, validatePodUpdate } from '../validation/pod.ts';
import {
  validateRole,
  validateRoleBinding,
  validateRoleBindingUpdate,
} from '../validation/rbac.ts';
import { validateService, validateServiceUpdate } from '../validation/service.ts';
import { validateWorkload, validateWorkloadUpdate } from '../validation/workload.ts';
import { deviceResources } from './device.ts';
import { coreEventFields, newEventFields, podFields } from './field-labels.ts';
import {
  defineResource,
  noCollectionDelete,
  type Resource,
  type Subresource,
  scaleSubresource,
  statusSubresource,
} from './resource.ts';
import { storedOnlyResources } from './stored-only.ts';

// Services, and where their endpoints are.

/** Services, Endpoints and EndpointSlices. */
const networkResources: readonly Resource[] = [
  defineResource({
    group: '',
    plural: 'endpoints',
    kind: 'Endpoints',
    singular: 'endpoints',
    shortNames: ['ep'],
    schema: network.endpoints,
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  }),
  defineResource({
    group: '',
    plural: 'services',
    kind: 'Service',
    singular: 'service',
    shortNames: ['svc'],
    categories: ['all'],
    showsDeleted: true,
    schema: network.service,
    subresources: [statusSubresource],
    admit: admitNewService,
    derive: admitService,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
  }),
  defineResource({
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    singular: 'endpointslice',
    schema: network.endpointSlice,
    generation: true,
    admit: admitEndpointSlice,
    derive: admitEndpointSlice,
  }),
];

// Events in both of their API groups: members of an events.k8s.io/v1 Event and what the stored
// core/v1 form calls them.

/** Members of an events.k8s.io/v1 Event and what the stored core/v1 form calls them. */
const renamedFields = {
  note: 'message',
  regarding: 'involvedObject',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
} as const;

const sharedFields = [
  'eventTime',
  'series',
  'reportingInstance',
  'action',
  'reason',
  'related',
  'type',
] as const;

/** A stored event as events.k8s.io/v1 shows it. */
function newEventView(event: KubeObject): KubeObject {
  const view: Record<string, unknown> = {};
  for (const name of sharedFields) if (event[name] !== undefined) view[name] = event[name];
  for (const [now, stored] of Object.entries(renamedFields)) {
    if (event[stored] !== undefined) view[now] = event[stored];
  }
  // The empty component and instance of a core event are not shown here.
  for (const name of ['reportingInstance', 'reportingController']) {
    if (view[name] === '') delete view[name];
  }
  return { kind: 'Event', apiVersion: 'events.k8s.io/v1', metadata: event.metadata, ...view };
}

/** An events.k8s.io/v1 Event as it is stored. */
function storedEvent(event: KubeObject): KubeObject {
  const stored: Record<string, unknown> = {};
  for (const name of sharedFields) if (event[name] !== undefined) stored[name] = event[name];
  for (const [now, name] of Object.entries(renamedFields)) {
    if (event[now] !== undefined) stored[name] = event[now];
  }
  return { kind: 'Event', apiVersion: 'v1', metadata: event.metadata, ...stored };
}

function workload(
  group: string,
  plural: string,
  shortNames: readonly string[],
  schema: Struct,
  subresources: readonly Subresource[] = [scaleSubresource, statusSubresource],
): Resource {
  return defineResource({
    group,
    plural,
    kind: schema.name,
    singular: schema.name.toLowerCase(),
    shortNames,
    schema,
    categories: ['all'],
    subresources,
    generation: true,
    admit: admitWorkload,
    derive: withWorkloadDefaults,
    validate: validateWorkload,
    validateUpdate: validateWorkloadUpdate,
  });
}

function rbacResource(schema: Struct, namespaced: boolean): Resource {
  const isBinding = schema.fields.roleRef !== undefined;
  return defineResource({
    group: 'rbac.authorization.k8s.io',
    plural: `${schema.name.toLowerCase()}s`,
    kind: schema.name,
    singular: schema.name.toLowerCase(),
    schema,
    namespaced,
    validate: isBinding ? validateRoleBinding : validateRole,
    ...(isBinding
      ? { derive: withBindingDefaults, validateUpdate: validateRoleBindingUpdate }
      : {}),
  });
}

const event = {
  plural: 'events',
  kind: 'Event',
  singular: 'event',
  shortNames: ['ev'],
  createOnUpdate: true,
  validateUpdate: validateEventUpdate,
} as const;

const coreEvent = defineResource({
  ...event,
  group: '',
  schema: core.event,
  fieldLabels: coreEventFields,
  validate: (event) => validateEvent(event, false),
});

const coreResources: readonly Resource[] = [
  defineResource({
    group: '',
    plural: 'configmaps',
    kind: 'ConfigMap',
    singular: 'configmap',
    shortNames: ['cm'],
    schema: core.configMap,
    validate: validateConfigMap,
    validateUpdate: validateConfigMapUpdate,
  }),
  coreEvent,
  defineResource({
    group: '',
    plural: 'namespaces',
    kind: 'Namespace',
    singular: 'namespace',
    shortNames: ['ns'],
    schema: core.namespace,
    namespaced: false,
    verbs: noCollectionDelete,
    subresources: [{ name: 'finalize', verbs: ['update'] }, statusSubresource],
    fieldLabels: { 'status.phase': ({ status }) => status?.phase ?? '' },
    admit: admitNamespace,
    derive: withNameLabel,
    validate: rules.validateNamespace,
  }),
  defineResource({
    group: '',
    plural: 'nodes',
    kind: 'Node',
    singular: 'node',
    shortNames: ['no'],
    schema: node,
    namespaced: false,
    subresources: [
      {
        name: 'proxy',
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
        kind: { kind: 'NodeProxyOptions' },
      },
      statusSubresource,
    ],
    fieldLabels: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable ?? false) },
    admit: admitNode,
    derive: withPodCidrs,
    validate: rules.validateNode,
    validateUpdate: rules.validateNodeUpdate,
  }),
  defineResource({
    group: '',
    plural: 'pods',
    kind: 'Pod',
    singular: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    showsDeleted: true,
    schema: pod,
    generation: true,
    subresources: [
      { name: 'binding', verbs: ['create'], kind: { kind: 'Binding' } },
      {
        name: 'eviction',
        verbs: ['create'],
        kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      },
      statusSubresource,
    ],
    fieldLabels: podFields,
    admit: admitPod,
    derive: withPodDefaults,
    defaults: podDefaults,
    validate: validatePod,
    validateUpdate: validatePodUpdate,
  }),
  {
    ...workload('', 'replicationcontrollers', ['rc'], workloads.replicationController),
    // Its selector is a plain map; the workload rules do not fit and nothing runs it here.
    validate: (object) => validateMetadata(object),
    validateUpdate: () => [],
  },
  defineResource({
    group: '',
    plural: 'secrets',
    kind: 'Secret',
    singular: 'secret',
    schema: core.secret,
    fieldLabels: { type: ({ type }) => type ?? '' },
    derive: withSecretDefaults,
    validate: validateConfigMap,
    validateUpdate: validateSecretUpdate,
  }),
  defineResource({
    group: '',
    plural: 'serviceaccounts',
    kind: 'ServiceAccount',
    singular: 'serviceaccount',
    shortNames: ['sa'],
    showsDeleted: true,
    schema: core.serviceAccount,
    subresources: [
      {
        name: 'token',
        verbs: ['create'],
        kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      },
    ],
  }),
];

/**
 * THE table of every cluster's resources; routing, discovery, storage rules and selectors all read
 * it.
 */
export const resources: readonly Resource[] = [
  ...coreResources,
  ...networkResources,
  defineResource({
    group: 'apps',
    plural: 'controllerrevisions',
    kind: 'ControllerRevision',
    singular: 'controllerrevision',
    schema: workloads.controllerRevision,
    validate: rules.validateRevision,
    validateUpdate: rules.validateRevisionUpdate,
  }),
  workload('apps', 'daemonsets', ['ds'], workloads.daemonSet, [statusSubresource]),
  workload('apps', 'deployments', ['deploy'], workloads.deployment),
  workload('apps', 'replicasets', ['rs'], workloads.replicaSet),
  workload('apps', 'statefulsets', ['sts'], workloads.statefulSet),
  defineResource({
    ...event,
    group: 'events.k8s.io',
    schema: core.newEvent,
    fieldLabels: newEventFields,
    validate: (event) => validateEvent(event, true),
    storage: coreEvent,
    view: { toView: newEventView, toStored: storedEvent },
  }),
  workload('batch', 'jobs', [], workloads.job, [statusSubresource]),
  defineResource({
    group: 'policy',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    singular: 'poddisruptionbudget',
    shortNames: ['pdb'],
    schema: workloads.podDisruptionBudget,
    subresources: [statusSubresource],
    generation: true,
    admit: withEmptyStatus,
    validate: rules.validateBudget,
  }),
  defineResource({
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    singular: 'lease',
    schema: core.lease,
    unconditionalUpdate: false,
    createOnUpdate: true,
    validate: rules.validateLease,
  }),
  rbacResource(rbac.clusterRoleBinding, false),
  rbacResource(rbac.clusterRole, false),
  rbacResource(rbac.roleBinding, true),
  rbacResource(rbac.role, true),
  ...deviceResources,
  ...storedOnlyResources,
];

const stored = new Map(
  resources.filter((entry) => !entry.storage).map((entry) => [entry.plural, entry]),
);

/** `v1`, `apps/v1`. */
export function apiVersionOf(entry: Pick<Resource, 'group' | 'version'>): string {
  return entry.group ? `${entry.group}/${entry.version}` : entry.version;
}

/** The resource of every server that is stored under a plural name. Throws for any other name. */
export function storedResource(plural: string): Resource {
  const entry = stored.get(plural);
  if (!entry) throw new Error(`no resource is stored as ${JSON.stringify(plural)}`);
  return entry;
}

/** True when the resource has this subresource. */
export function hasSubresource(entry: Resource, name: string): boolean {
  return entry.subresources.some((subresource) => subresource.name === name);
}
