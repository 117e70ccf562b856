// The shape of metadata.
import { atomic, list, listBy, map, type Struct, set, struct } from './types.ts';

const ownerReference = atomic(
  struct('OwnerReference', {
    apiVersion: 'string!',
    kind: 'string!',
    name: 'string!',
    uid: 'string!',
    controller: 'bool*',
    blockOwnerDeletion: 'bool*',
  }),
);

/** `metadata` of every object. */
export const objectMeta: Struct = {
  ...struct('ObjectMeta', {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    selfLink: 'string',
    uid: 'string',
    resourceVersion: 'string',
    generation: 'int64',
    creationTimestamp: 'time',
    deletionTimestamp: 'time',
    deletionGracePeriodSeconds: 'int64*',
    labels: map('string'),
    annotations: map('string'),
    ownerReferences: listBy('uid', ownerReference),
    finalizers: set('string'),
    managedFields: list('any'),
  }),
  always: true,
};

/** metav1.Condition and its older look-alikes, merged by `type`. */
export const condition: Struct = struct('Condition', {
  type: 'string!',
  status: 'string!',
  observedGeneration: 'int64',
  lastUpdateTime: 'time',
  lastTransitionTime: 'time',
  reason: 'string',
  message: 'string',
});

/** metav1.LabelSelector. */
export const labelSelector: Struct = atomic(
  struct('LabelSelector', {
    matchLabels: map('string'),
    matchExpressions: list(
      struct('LabelSelectorRequirement', {
        key: 'string!',
        operator: 'string!',
        values: list('string'),
      }),
    ),
  }),
);

/** v1.ObjectReference. */
export const objectReference: Struct = atomic(
  struct('ObjectReference', {
    kind: 'string',
    namespace: 'string',
    name: 'string',
    uid: 'string',
    apiVersion: 'string',
    resourceVersion: 'string',
    fieldPath: 'string',
  }),
);

/** A whole object: kind, apiVersion, metadata and the kind's own members. */
export function topLevel(kind: string, fields: Struct['fields']): Struct {
  return struct(kind, { kind: 'string', apiVersion: 'string', metadata: objectMeta, ...fields });
}
