// The protobuf fields of the bodies that kubectl sends.

/** How a field is written; a list of one message is that message, repeated. */
export type BodyFieldType =
  | 'string'
  | 'strings'
  | 'integer'
  | 'boolean'
  | 'stringMap'
  | 'intOrString'
  | Message
  | readonly [Message];

export interface Message {
  readonly [fieldNumber: number]: readonly [name: string, type: BodyFieldType];
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

const containerPort: Message = {
  1: ['name', 'string'],
  3: ['containerPort', 'integer'],
  4: ['protocol', 'string'],
};

const container: Message = {
  1: ['name', 'string'],
  2: ['image', 'string'],
  3: ['command', 'strings'],
  4: ['args', 'strings'],
  6: ['ports', [containerPort]],
};

const metadata: Message[number] = ['metadata', objectMeta];

const podSpec: Message = { 2: ['containers', [container]], 3: ['restartPolicy', 'string'] };
const template: Message[number] = ['template', { 1: metadata, 2: ['spec', podSpec] }];

const deploymentSpec: Message = {
  1: ['replicas', 'integer'],
  2: ['selector', labelSelector],
  3: template,
};

const budgetSpec: Message = {
  1: ['minAvailable', 'intOrString'],
  2: ['selector', labelSelector],
  3: ['maxUnavailable', 'intOrString'],
};

const accessReviewSpec: Message = {
  1: ['resourceAttributes', resourceAttributes],
  2: ['nonResourceAttributes', { 1: ['path', 'string'], 2: ['verb', 'string'] }],
};

const servicePort: Message = {
  1: ['name', 'string'],
  2: ['protocol', 'string'],
  3: ['port', 'integer'],
  4: ['targetPort', 'intOrString'],
  5: ['nodePort', 'integer'],
};

const serviceSpec: Message = {
  1: ['ports', [servicePort]],
  2: ['selector', 'stringMap'],
  3: ['clusterIP', 'string'],
  4: ['type', 'string'],
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
  Deployment: { 1: metadata, 2: ['spec', deploymentSpec] },
  Job: { 1: metadata, 2: ['spec', { 6: template }] },
  Namespace: { 1: metadata },
  PodDisruptionBudget: { 1: metadata, 2: ['spec', budgetSpec] },
  SelfSubjectReview: { 1: metadata },
  SelfSubjectAccessReview: { 1: metadata, 2: ['spec', accessReviewSpec] },
  SelfSubjectRulesReview: { 1: metadata, 2: ['spec', { 1: ['namespace', 'string'] }] },
  Service: { 1: metadata, 2: ['spec', serviceSpec] },
  ServiceAccount: { 1: metadata },
};
