/** How a field is read; a list of one message is that message, repeated. */
export type FieldType =
  | 'text'
  | 'texts'
  | 'textMap'
  | 'integer'
  | 'boolean'
  | 'time'
  | 'microTime'
  | Message
  | readonly [Message];

/**
 * The fields of a message that are kept, by their numbers; all others are skipped unread. A message
 * without a name has its fields stand in the one around it, as JSON has them.
 */
export interface Message {
  readonly [fieldNumber: number]: readonly [name: string, type: FieldType];
}

const ownerReference: Message = {
  1: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
  5: ['apiVersion', 'text'],
  6: ['controller', 'boolean'],
};

const objectMeta: Message = {
  1: ['name', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  7: ['generation', 'integer'],
  8: ['creationTimestamp', 'time'],
  9: ['deletionTimestamp', 'time'],
  11: ['labels', 'textMap'],
  12: ['annotations', 'textMap'],
  13: ['ownerReferences', [ownerReference]],
};

const condition: Message = {
  1: ['type', 'text'],
  2: ['status', 'text'],
  4: ['lastTransitionTime', 'time'],
};

const nodeCondition: Message = {
  ...condition,
  3: ['lastHeartbeatTime', 'time'],
  5: ['reason', 'text'],
  6: ['message', 'text'],
};

const taint: Message = {
  1: ['key', 'text'],
  2: ['value', 'text'],
  3: ['effect', 'text'],
  4: ['timeAdded', 'time'],
};

const toleration: Message = {
  1: ['key', 'text'],
  2: ['operator', 'text'],
  3: ['value', 'text'],
  4: ['effect', 'text'],
  5: ['tolerationSeconds', 'integer'],
};

const labelSelector: Message = {
  1: ['matchLabels', 'textMap'],
  2: [
    'matchExpressions',
    [{ 1: ['key', 'text'], 2: ['operator', 'text'], 3: ['values', 'texts'] }],
  ],
};

const statusDetails: Message = {
  1: ['name', 'text'],
  3: ['kind', 'text'],
  4: ['causes', [{ 1: ['reason', 'text'], 2: ['message', 'text'], 3: ['field', 'text'] }]],
  5: ['retryAfterSeconds', 'integer'],
};

/** The kinds that are read, with the fields that `convert.ts` and `answer.ts` look at. */
export const protobufKinds: Readonly<Record<string, Message>> = {
  Pod: {
    1: ['metadata', objectMeta],
    2: [
      'spec',
      {
        1: ['volumes', [{ 2: ['', { 2: ['emptyDir', {}] }] }]],
        4: ['terminationGracePeriodSeconds', 'integer'],
        10: ['nodeName', 'text'],
        22: ['tolerations', [toleration]],
      },
    ],
    3: [
      'status',
      { 1: ['phase', 'text'], 2: ['conditions', [condition]], 7: ['startTime', 'time'] },
    ],
  },
  Node: {
    1: ['metadata', objectMeta],
    2: ['spec', { 4: ['unschedulable', 'boolean'], 5: ['taints', [taint]] }],
    3: ['status', { 4: ['conditions', [nodeCondition]] }],
  },
  Lease: { 1: ['metadata', objectMeta], 2: ['spec', { 4: ['renewTime', 'microTime'] }] },
  DaemonSet: { 1: ['metadata', objectMeta], 2: ['spec', { 1: ['selector', labelSelector] }] },
  Status: {
    2: ['status', 'text'],
    3: ['message', 'text'],
    4: ['reason', 'text'],
    5: ['details', statusDetails],
    6: ['code', 'integer'],
  },
};
