// The protobuf fields of the bodies that kubectl and the real controllers send.
import { entry } from '../objects/json.ts';
import { type Fields, objectMeta, objectReference, pointer } from './fields.ts';
import { objects } from './kinds.ts';
import { workloads } from './workload-fields.ts';

const metadata: Fields[string] = [1, objectMeta];

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

const servicePort: Fields = {
  name: [1, 'string'],
  protocol: [2, 'string'],
  port: [3, 'integer'],
  targetPort: [4, 'intOrString'],
  nodePort: [5, 'integer'],
  appProtocol: [6, 'string*'],
};

const serviceSpec: Fields = {
  ports: [1, [servicePort]],
  selector: [2, 'stringMap'],
  clusterIP: [3, 'string'],
  type: [4, 'string'],
  sessionAffinity: [7, 'string'],
  externalName: [10, 'string'],
};

const address: Fields = {
  ip: [1, 'string'],
  targetRef: [2, pointer(objectReference)],
  hostname: [3, 'string'],
  nodeName: [4, 'string*'],
};

const subset: Fields = {
  addresses: [1, [address]],
  notReadyAddresses: [2, [address]],
  ports: [
    3,
    [
      {
        name: [1, 'string'],
        port: [2, 'integer'],
        protocol: [3, 'string'],
        appProtocol: [4, 'string*'],
      },
    ],
  ],
};

const endpoint: Fields = {
  addresses: [1, 'strings'],
  conditions: [
    2,
    { ready: [1, 'boolean*'], serving: [2, 'boolean*'], terminating: [3, 'boolean*'] },
  ],
  hostname: [3, 'string*'],
  targetRef: [4, pointer(objectReference)],
  deprecatedTopology: [5, 'stringMap'],
  nodeName: [6, 'string*'],
  zone: [7, 'string*'],
};

const endpointPort: Fields = {
  name: [1, 'string*'],
  protocol: [2, 'string*'],
  port: [3, 'integer*'],
  appProtocol: [4, 'string*'],
};

/** By kind; a kind that has several groups by its apiVersion too. */
const bodyKinds: Readonly<Record<string, Fields>> = {
  ...objects,
  ...workloads,
  Binding: { metadata, target: [2, objectReference] },
  ConfigMap: {
    metadata,
    data: [2, 'stringMap'],
    binaryData: [3, 'bytesMap'],
    immutable: [4, 'boolean*'],
  },
  DeleteOptions: deleteOptions,
  Endpoints: { metadata, subsets: [2, [subset]] },
  EndpointSlice: {
    metadata,
    endpoints: [2, [endpoint]],
    ports: [3, [endpointPort]],
    addressType: [4, 'string'],
  },
  Event: event,
  'events.k8s.io/v1/Event': newEvent,
  Eviction: { metadata, deleteOptions: [2, pointer(deleteOptions)] },
  Namespace: { metadata, spec: [2, { finalizers: [1, 'strings'] }], status: [3, namespaceStatus] },
  SelfSubjectReview: { metadata },
  SelfSubjectAccessReview: { metadata, spec: [2, accessReviewSpec] },
  SelfSubjectRulesReview: { metadata, spec: [2, { namespace: [1, 'string'] }] },
  Service: { metadata, spec: [2, serviceSpec] },
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
  TokenReview: { metadata, spec: [2, { token: [1, 'string'], audiences: [2, 'strings'] }] },
};

/** The fields of a kind; undefined for one that nobody sends so. */
export function bodyFields(apiVersion: string, kind: string): Fields | undefined {
  return entry(bodyKinds, `${apiVersion}/${kind}`) ?? entry(bodyKinds, kind);
}
