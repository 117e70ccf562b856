// The language in which the protobuf fields of API objects are described.

/**
 * The form of a field. `*` is a Go pointer: written only where it is given. The others are always
 * written, as nothing where they are absent, except for bytes, lists and maps. JSON leaves zeros
 * out, except for fields with `!`. A list of one message is that message, repeated.
 */
export type FieldType =
  | 'string'
  | 'string*'
  | 'strings'
  | 'integer'
  | 'integer*'
  | 'integer!'
  | 'integers'
  | 'boolean'
  | 'boolean*'
  | 'boolean!'
  | 'time'
  | 'time*'
  | 'microTime*'
  | 'stringMap'
  | 'quantity*'
  | 'quantityMap'
  | 'timeMap'
  /** Bytes, which JSON has in base64. */
  | 'bytes'
  | 'bytesMap'
  | 'intOrString'
  | 'intOrString*'
  /** JSON unchanged, in the field of a separate message. */
  | 'json*'
  | Fields
  | Pointer
  | readonly [Fields];

/** A message that is written only where it is given. */
export interface Pointer {
  readonly pointer: Fields;
}

/** A message that is written only where it is given, of these fields. */
export function pointer(fields: Fields): Pointer {
  return { pointer: fields };
}

/** True if a field is a list of messages. */
export function isRepeated(type: FieldType): type is readonly [Fields] {
  return Array.isArray(type);
}

/** True if a message is written only where it is given; a field may be named pointer too. */
export function isPointer(type: Fields | Pointer): type is Pointer {
  return 'pointer' in type && !Array.isArray(type.pointer);
}

/**
 * The fields of a message by their JSON names, in the order of their numbers. The one called '' is a
 * message whose fields JSON has in the message around it.
 */
export interface Fields {
  readonly [jsonName: string]: readonly [fieldNumber: number, type: FieldType];
}

const ownerReference: Fields = {
  kind: [1, 'string'],
  name: [3, 'string'],
  uid: [4, 'string'],
  apiVersion: [5, 'string'],
  controller: [6, 'boolean*'],
  blockOwnerDeletion: [7, 'boolean*'],
};

const managedFields: Fields = {
  manager: [1, 'string'],
  operation: [2, 'string'],
  apiVersion: [3, 'string'],
  time: [4, 'time*'],
  fieldsType: [6, 'string'],
  fieldsV1: [7, 'json*'],
  subresource: [8, 'string'],
};

/** `metadata` of every object. */
export const objectMeta: Fields = {
  name: [1, 'string'],
  generateName: [2, 'string'],
  namespace: [3, 'string'],
  selfLink: [4, 'string'],
  uid: [5, 'string'],
  resourceVersion: [6, 'string'],
  generation: [7, 'integer'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time*'],
  deletionGracePeriodSeconds: [10, 'integer*'],
  labels: [11, 'stringMap'],
  annotations: [12, 'stringMap'],
  ownerReferences: [13, [ownerReference]],
  finalizers: [14, 'strings'],
  managedFields: [17, [managedFields]],
};

/** `metadata` of lists and of Status. */
export const listMeta: Fields = {
  selfLink: [1, 'string'],
  resourceVersion: [2, 'string'],
  continue: [3, 'string'],
  remainingItemCount: [4, 'integer*'],
};

/** metav1.LabelSelector. */
export const labelSelector: Fields = {
  matchLabels: [1, 'stringMap'],
  matchExpressions: [2, [{ key: [1, 'string'], operator: [2, 'string'], values: [3, 'strings'] }]],
};

/** v1.ObjectReference. */
export const objectReference: Fields = {
  kind: [1, 'string'],
  namespace: [2, 'string'],
  name: [3, 'string'],
  uid: [4, 'string'],
  apiVersion: [5, 'string'],
  resourceVersion: [6, 'string'],
  fieldPath: [7, 'string'],
};

const statusDetails = pointer({
  name: [1, 'string'],
  group: [2, 'string'],
  kind: [3, 'string'],
  causes: [4, [{ reason: [1, 'string'], message: [2, 'string'], field: [3, 'string'] }]],
  retryAfterSeconds: [5, 'integer'],
  uid: [6, 'string'],
});

/** metav1.Status. */
export const statusFields: Fields = {
  metadata: [1, listMeta],
  status: [2, 'string'],
  message: [3, 'string'],
  reason: [4, 'string'],
  details: [5, statusDetails],
  code: [6, 'integer'],
};
