// The shapes of Namespace, Event, Lease and other small kinds.
import { condition, topLevel } from './metadata.ts';
import { always, list, listBy, map, type Struct, struct } from './types.ts';

/** v1 Namespace. */
export const namespace: Struct = topLevel('Namespace', {
  spec: always(struct('NamespaceSpec', { finalizers: list('string') })),
  status: always(
    struct('NamespaceStatus', { phase: 'string', conditions: listBy('type', condition) }),
  ),
});

/** v1.ObjectReference. */
const objectReference = struct('ObjectReference', {
  kind: 'string',
  namespace: 'string',
  name: 'string',
  uid: 'string',
  apiVersion: 'string',
  resourceVersion: 'string',
  fieldPath: 'string',
});

const eventSource = struct('EventSource', { component: 'string', host: 'string' });

const eventSeries = struct('EventSeries', {
  count: 'int32',
  lastObservedTime: 'microTime',
});

/** v1 Event, the form in which events are stored. */
export const event: Struct = topLevel('Event', {
  involvedObject: always(objectReference),
  reason: 'string',
  message: 'string',
  source: always(eventSource),
  firstTimestamp: 'time!',
  lastTimestamp: 'time!',
  count: 'int32',
  type: 'string',
  eventTime: 'microTime!',
  series: eventSeries,
  action: 'string',
  related: objectReference,
  reportingComponent: 'string!',
  reportingInstance: 'string!',
});

/** events.k8s.io/v1 Event, the newer form of the same object. */
export const newEvent: Struct = topLevel('Event', {
  eventTime: 'microTime!',
  series: eventSeries,
  reportingController: 'string',
  reportingInstance: 'string',
  action: 'string',
  reason: 'string',
  regarding: always(objectReference),
  related: objectReference,
  note: 'string',
  type: 'string',
  deprecatedSource: always(eventSource),
  deprecatedFirstTimestamp: 'time!',
  deprecatedLastTimestamp: 'time!',
  deprecatedCount: 'int32',
});

/** v1 Service. */
export const service: Struct = topLevel('Service', {
  spec: always(
    struct('ServiceSpec', {
      ports: listBy('port', 'any', ['port', 'protocol']),
      selector: map('string'),
      clusterIP: 'string',
      clusterIPs: list('string'),
      type: 'string',
      externalIPs: list('string'),
      sessionAffinity: 'string',
      loadBalancerIP: 'string',
      loadBalancerSourceRanges: list('string'),
      externalName: 'string',
      externalTrafficPolicy: 'string',
      healthCheckNodePort: 'int32',
      publishNotReadyAddresses: 'bool',
      sessionAffinityConfig: 'any',
      ipFamilies: list('string'),
      ipFamilyPolicy: 'string*',
      allocateLoadBalancerNodePorts: 'bool*',
      loadBalancerClass: 'string*',
      internalTrafficPolicy: 'string*',
      trafficDistribution: 'string*',
    }),
  ),
  status: always(
    struct('ServiceStatus', {
      loadBalancer: always(struct('LoadBalancerStatus', { ingress: list('any') })),
      conditions: listBy('type', condition),
    }),
  ),
});

/** v1 ConfigMap. */
export const configMap: Struct = topLevel('ConfigMap', {
  immutable: 'bool*',
  data: map('string'),
  binaryData: map('string'),
});

/** v1 ServiceAccount. */
export const serviceAccount: Struct = topLevel('ServiceAccount', {
  secrets: listBy('name', 'any'),
  imagePullSecrets: listBy('name', 'any'),
  automountServiceAccountToken: 'bool*',
});

/** coordination.k8s.io/v1 Lease. */
export const lease: Struct = topLevel('Lease', {
  spec: always(
    struct('LeaseSpec', {
      holderIdentity: 'string*',
      leaseDurationSeconds: 'int32*',
      acquireTime: 'microTime',
      renewTime: 'microTime',
      leaseTransitions: 'int32*',
      strategy: 'string*',
      preferredHolder: 'string*',
    }),
  ),
});
