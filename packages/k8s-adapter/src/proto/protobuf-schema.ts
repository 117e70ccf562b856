// The fields of Kubernetes' protobuf messages that are read, by number.

/**
 * How a field is read; a list of one message is that message, repeated. Words are texts that many
 * objects share.
 */
export type FieldType =
  | 'text'
  | 'word'
  | 'words'
  | 'wordMap'
  /** resource.Quantity, which is its text. */
  | 'quantity'
  | 'quantityMap'
  | 'integer'
  | 'boolean'
  | 'bytes'
  | Message
  | readonly [Message];

/**
 * The fields of a message that are kept, by their numbers; all others are skipped unread. A message
 * without a name has its fields stand in the one around it, as JSON has them.
 */
export interface Message {
  readonly [fieldNumber: number]: readonly [name: string, type: FieldType];
}

/** metav1.Time; what is below a second is not looked at, as JSON does not have it. */
const time: Message = { 1: ['seconds', 'integer'] };

const microTime: Message = { 1: ['seconds', 'integer'], 2: ['nanos', 'integer'] };

const ownerReference: Message = {
  1: ['kind', 'word'],
  3: ['name', 'word'],
  5: ['apiVersion', 'word'],
  6: ['controller', 'boolean'],
};

/** Of metav1.ObjectMeta what tells one state of one object from another. */
export const identityMessage: Message = {
  1: ['name', 'text'],
  3: ['namespace', 'word'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
};

const objectMeta: Message = {
  ...identityMessage,
  7: ['generation', 'integer'],
  8: ['creationTimestamp', time],
  9: ['deletionTimestamp', time],
  11: ['labels', 'wordMap'],
  12: ['annotations', 'wordMap'],
  13: ['ownerReferences', [ownerReference]],
};

/** metav1.ManagedFieldsEntry; the fields are JSON, which is read where it matters. */
const managedFieldsEntry: Message = {
  1: ['manager', 'word'],
  4: ['time', time],
  7: ['fieldsV1', { 1: ['raw', 'bytes'] }],
  8: ['subresource', 'word'],
};

const condition: Message = {
  1: ['type', 'word'],
  2: ['status', 'word'],
  4: ['lastTransitionTime', time],
  5: ['reason', 'word'],
};

const nodeCondition: Message = {
  ...condition,
  3: ['lastHeartbeatTime', time],
  5: ['reason', 'word'],
  6: ['message', 'word'],
};

const taint: Message = {
  1: ['key', 'word'],
  2: ['value', 'word'],
  3: ['effect', 'word'],
  4: ['timeAdded', time],
};

const toleration: Message = {
  1: ['key', 'word'],
  2: ['operator', 'word'],
  3: ['value', 'word'],
  4: ['effect', 'word'],
  5: ['tolerationSeconds', 'integer'],
};

const labelSelector: Message = {
  1: ['matchLabels', 'wordMap'],
  2: [
    'matchExpressions',
    [{ 1: ['key', 'word'], 2: ['operator', 'word'], 3: ['values', 'words'] }],
  ],
};

const statusDetails: Message = {
  1: ['name', 'text'],
  3: ['kind', 'word'],
  4: ['causes', [{ 1: ['reason', 'word'], 2: ['message', 'text'], 3: ['field', 'text'] }]],
  5: ['retryAfterSeconds', 'integer'],
};

const ownedMeta: Message = { ...objectMeta, 17: ['managedFields', [managedFieldsEntry]] };

/** A Pod with the fields that `convert.ts` looks at, and these. */
export function podMessage(more: { readonly spec?: Message; readonly status?: Message }): Message {
  return {
    1: ['metadata', ownedMeta],
    2: [
      'spec',
      {
        1: ['volumes', [{ 2: ['', { 2: ['emptyDir', {}] }] }]],
        4: ['terminationGracePeriodSeconds', 'integer'],
        10: ['nodeName', 'word'],
        22: ['tolerations', [toleration]],
        24: ['priorityClassName', 'word'],
        25: ['priority', 'integer'],
        ...more.spec,
      },
    ],
    3: [
      'status',
      {
        1: ['phase', 'word'],
        2: ['conditions', [condition]],
        7: ['startTime', time],
        ...more.status,
      },
    ],
  };
}

/** A Node with the fields that `convert.ts` looks at, and these of its status. */
export function nodeMessage(status: Message): Message {
  return {
    1: ['metadata', ownedMeta],
    2: ['spec', { 4: ['unschedulable', 'boolean'], 5: ['taints', [taint]] }],
    3: ['status', { 4: ['conditions', [nodeCondition]], ...status }],
  };
}

/** The messages that are read, by kind. */
export type Kinds = Readonly<Record<string, Message>>;

/** The kinds that are read, with the fields that `convert.ts` and `answer.ts` look at. */
export const protobufKinds: Kinds = {
  Pod: podMessage({}),
  Node: nodeMessage({}),
  Lease: { 1: ['metadata', objectMeta], 2: ['spec', { 4: ['renewTime', microTime] }] },
  DaemonSet: { 1: ['metadata', objectMeta], 2: ['spec', { 1: ['selector', labelSelector] }] },
  Status: {
    2: ['status', 'word'],
    3: ['message', 'text'],
    4: ['reason', 'word'],
    5: ['details', statusDetails],
    6: ['code', 'integer'],
  },
};
