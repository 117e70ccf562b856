// The shapes of Namespace, Event, Lease and other small kinds.
import { condition, objectReference, topLevel } from './metadata.ts';
import { always, list, listBy, map, type Struct, struct } from './types.ts';

/** v1 Namespace. */
export const namespace: Struct = topLevel('Namespace', {
  spec: always(struct('NamespaceSpec', { finalizers: list('string') })),
  status: always(
    struct('NamespaceStatus', { phase: 'string', conditions: listBy('type', condition) }),
  ),
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

/** v1 ConfigMap. */
export const configMap: Struct = topLevel('ConfigMap', {
  immutable: 'bool*',
  data: map('string'),
  binaryData: map('bytes'),
});

/** v1 Secret. */
export const secret: Struct = topLevel('Secret', {
  immutable: 'bool*',
  data: map('bytes'),
  stringData: map('string'),
  type: 'string',
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
