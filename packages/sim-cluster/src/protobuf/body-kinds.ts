// The protobuf fields of the bodies that kubectl sends.

/** How a field is written; a list of one message is that message, repeated. */
export type FieldType =
  | 'string'
  | 'strings'
  | 'integer'
  | 'boolean'
  | 'stringMap'
  | 'intOrString'
  | Message
  | readonly [Message];

export interface Message {
  readonly [fieldNumber: number]: readonly [name: string, type: FieldType];
}

const objectMeta: Message = {
  1: ['name', 'string'],
  2: ['generateName', 'string'],
  3: ['namespace', 'string'],
  5: ['uid', 'string'],
  6: ['resourceVersion', 'string'],
  11: ['labels', 'stringMap'],
  12: ['annotations', 'stringMap'],
};

const resourceAttributes: Message = {
  1: ['namespace', 'string'],
  2: ['verb', 'string'],
  3: ['group', 'string'],
  4: ['version', 'string'],
  5: ['resource', 'string'],
  6: ['subresource', 'string'],
  7: ['name', 'string'],
};

const labelSelector: Message = { 1: ['matchLabels', 'stringMap'] };

const container: Message = {
  1: ['name', 'string'],
  2: ['image', 'string'],
  3: ['command', 'strings'],
  4: ['args', 'strings'],
  6: [
    'ports',
    [{ 1: ['name', 'string'], 3: ['containerPort', 'integer'], 4: ['protocol', 'string'] }],
  ],
};

const podTemplate: Message = {
  1: ['metadata', objectMeta],
  2: ['spec', { 2: ['containers', [container]], 3: ['restartPolicy', 'string'] }],
};

const servicePort: Message = {
  1: ['name', 'string'],
  2: ['protocol', 'string'],
  3: ['port', 'integer'],
  4: ['targetPort', 'intOrString'],
  5: ['nodePort', 'integer'],
};

/** The fields of each kind that kubectl's own commands fill in. */
export const protobufKinds: Readonly<Record<string, Message>> = {
  DeleteOptions: {
    1: ['gracePeriodSeconds', 'integer'],
    2: ['preconditions', { 1: ['uid', 'string'], 2: ['resourceVersion', 'string'] }],
    3: ['orphanDependents', 'boolean'],
    4: ['propagationPolicy', 'string'],
    5: ['dryRun', 'strings'],
  },
  Deployment: {
    1: ['metadata', objectMeta],
    2: [
      'spec',
      {
        1: ['replicas', 'integer'],
        2: ['selector', labelSelector],
        3: ['template', podTemplate],
      },
    ],
  },
  Job: { 1: ['metadata', objectMeta], 2: ['spec', { 6: ['template', podTemplate] }] },
  Namespace: { 1: ['metadata', objectMeta] },
  PodDisruptionBudget: {
    1: ['metadata', objectMeta],
    2: [
      'spec',
      {
        1: ['minAvailable', 'intOrString'],
        2: ['selector', labelSelector],
        3: ['maxUnavailable', 'intOrString'],
      },
    ],
  },
  SelfSubjectReview: { 1: ['metadata', objectMeta] },
  SelfSubjectAccessReview: {
    1: ['metadata', objectMeta],
    2: [
      'spec',
      {
        1: ['resourceAttributes', resourceAttributes],
        2: ['nonResourceAttributes', { 1: ['path', 'string'], 2: ['verb', 'string'] }],
      },
    ],
  },
  SelfSubjectRulesReview: {
    1: ['metadata', objectMeta],
    2: ['spec', { 1: ['namespace', 'string'] }],
  },
  Service: {
    1: ['metadata', objectMeta],
    2: [
      'spec',
      {
        1: ['ports', [servicePort]],
        2: ['selector', 'stringMap'],
        3: ['clusterIP', 'string'],
        4: ['type', 'string'],
      },
    ],
  },
  ServiceAccount: { 1: ['metadata', objectMeta] },
};
