// The protobuf fields of the bodies that kubectl and the real controllers send.
import { entry } from '@taintmgr/sim-cluster/server';
import { type Fields, labelSelector, objectMeta, objectReference, pointer } from './fields.ts';
import { objects } from './kinds.ts';
import { networkKinds } from './network-fields.ts';
import { volumeClaim } from './volume-fields.ts';
import { workloads } from './workload-fields.ts';

const metadata: Fields[string] = [1, objectMeta];

// The protobuf fields of roles, and of priorities.

const rule: Fields = {
  verbs: [1, 'strings'],
  apiGroups: [2, 'strings'],
  resources: [3, 'strings'],
  resourceNames: [4, 'strings'],
  nonResourceURLs: [5, 'strings'],
};

const subject: Fields = {
  kind: [1, 'string'],
  apiGroup: [2, 'string'],
  name: [3, 'string'],
  namespace: [4, 'string'],
};

const binding: Fields = {
  metadata,
  subjects: [2, [subject]],
  roleRef: [3, { apiGroup: [1, 'string'], kind: [2, 'string'], name: [3, 'string'] }],
};

/** Roles and their bindings, and PriorityClass. */
const rightsKinds: Readonly<Record<string, Fields>> = {
  ClusterRole: {
    metadata,
    rules: [2, [rule]],
    aggregationRule: [3, pointer({ clusterRoleSelectors: [1, [labelSelector]] })],
  },
  ClusterRoleBinding: binding,
  PriorityClass: {
    metadata,
    value: [2, 'integer!'],
    globalDefault: [3, 'boolean'],
    description: [4, 'string'],
    preemptionPolicy: [5, 'string*'],
  },
  Role: { metadata, rules: [2, [rule]] },
  RoleBinding: binding,
};

const deleteOptions: Fields = {
  gracePeriodSeconds: [1, 'integer*'],
  preconditions: [2, pointer({ uid: [1, 'string*'], resourceVersion: [2, 'string*'] })],
  orphanDependents: [3, 'boolean*'],
  propagationPolicy: [4, 'string*'],
  dryRun: [5, 'strings'],
};

const resourceAttributes = pointer({
  namespace: [1, 'string'],
  verb: [2, 'string'],
  group: [3, 'string'],
  version: [4, 'string'],
  resource: [5, 'string'],
  subresource: [6, 'string'],
  name: [7, 'string'],
});

const accessReviewSpec: Fields = {
  resourceAttributes: [1, resourceAttributes],
  nonResourceAttributes: [2, pointer({ path: [1, 'string'], verb: [2, 'string'] })],
};

const namespaceCondition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const namespaceStatus: Fields = { phase: [1, 'string'], conditions: [2, [namespaceCondition]] };

const eventSource: Fields = { component: [1, 'string'], host: [2, 'string'] };
const eventSeries = pointer({ count: [1, 'integer'], lastObservedTime: [2, 'microTime*'] });

const event: Fields = {
  metadata,
  involvedObject: [2, objectReference],
  reason: [3, 'string'],
  message: [4, 'string'],
  source: [5, eventSource],
  firstTimestamp: [6, 'time'],
  lastTimestamp: [7, 'time'],
  count: [8, 'integer'],
  type: [9, 'string'],
  eventTime: [10, 'microTime*'],
  series: [11, eventSeries],
  action: [12, 'string'],
  related: [13, pointer(objectReference)],
  reportingComponent: [14, 'string'],
  reportingInstance: [15, 'string'],
};

const newEvent: Fields = {
  metadata,
  eventTime: [2, 'microTime*'],
  series: [3, eventSeries],
  reportingController: [4, 'string'],
  reportingInstance: [5, 'string'],
  action: [6, 'string'],
  reason: [7, 'string'],
  regarding: [8, objectReference],
  related: [9, pointer(objectReference)],
  note: [10, 'string'],
  type: [11, 'string'],
  deprecatedSource: [12, eventSource],
  deprecatedFirstTimestamp: [13, 'time'],
  deprecatedLastTimestamp: [14, 'time'],
  deprecatedCount: [15, 'integer'],
};

const tokenRequest: Fields = {
  metadata,
  spec: [
    2,
    {
      audiences: [1, 'strings'],
      boundObjectRef: [
        3,
        pointer({
          kind: [1, 'string'],
          apiVersion: [2, 'string'],
          name: [3, 'string'],
          uid: [4, 'string'],
        }),
      ],
      expirationSeconds: [4, 'integer*'],
    },
  ],
  status: [3, { token: [1, 'string'], expirationTimestamp: [2, 'time'] }],
};

const signingCondition: Fields = {
  type: [1, 'string'],
  reason: [2, 'string'],
  message: [3, 'string'],
  lastUpdateTime: [4, 'time'],
  lastTransitionTime: [5, 'time'],
  status: [6, 'string'],
};

const signingRequest: Fields = {
  metadata,
  spec: [
    2,
    {
      request: [1, 'bytes'],
      username: [2, 'string'],
      uid: [3, 'string'],
      groups: [4, 'strings'],
      usages: [5, 'strings'],
      signerName: [7, 'string'],
      expirationSeconds: [8, 'integer*'],
    },
  ],
  status: [3, { conditions: [1, [signingCondition]], certificate: [2, 'bytes'] }],
};

const quota: Fields = {
  metadata,
  spec: [2, { hard: [1, 'quantityMap'], scopes: [2, 'strings'] }],
  status: [3, { hard: [1, 'quantityMap'], used: [2, 'quantityMap'] }],
};

/** By kind; a kind that has several groups by its apiVersion too. */
const bodyKinds: Readonly<Record<string, Fields>> = {
  ...objects,
  ...workloads,
  ...networkKinds,
  ...rightsKinds,
  Binding: { metadata, target: [2, objectReference] },
  CertificateSigningRequest: signingRequest,
  ConfigMap: {
    metadata,
    data: [2, 'stringMap'],
    binaryData: [3, 'bytesMap'],
    immutable: [4, 'boolean*'],
  },
  DeleteOptions: deleteOptions,
  Event: event,
  'events.k8s.io/v1/Event': newEvent,
  Eviction: { metadata, deleteOptions: [2, pointer(deleteOptions)] },
  Namespace: { metadata, spec: [2, { finalizers: [1, 'strings'] }], status: [3, namespaceStatus] },
  PartialObjectMetadata: { metadata },
  PersistentVolumeClaim: volumeClaim,
  ResourceQuota: quota,
  Secret: {
    metadata,
    data: [2, 'bytesMap'],
    type: [3, 'string'],
    stringData: [4, 'stringMap'],
    immutable: [5, 'boolean*'],
  },
  SelfSubjectReview: { metadata },
  SelfSubjectAccessReview: { metadata, spec: [2, accessReviewSpec] },
  SelfSubjectRulesReview: { metadata, spec: [2, { namespace: [1, 'string'] }] },
  ServiceAccount: {
    metadata,
    secrets: [2, [objectReference]],
    imagePullSecrets: [3, [{ name: [1, 'string'] }]],
    automountServiceAccountToken: [4, 'boolean*'],
  },
  SubjectAccessReview: {
    metadata,
    spec: [
      2,
      { ...accessReviewSpec, user: [3, 'string'], groups: [4, 'strings'], uid: [6, 'string'] },
    ],
  },
  TokenRequest: tokenRequest,
  TokenReview: { metadata, spec: [2, { token: [1, 'string'], audiences: [2, 'strings'] }] },
};

/** The fields of a kind; undefined for one that no client sends in protobuf. */
export function bodyFields(apiVersion: string, kind: string): Fields | undefined {
  return entry(bodyKinds, `${apiVersion}/${kind}`) ?? entry(bodyKinds, kind);
}
