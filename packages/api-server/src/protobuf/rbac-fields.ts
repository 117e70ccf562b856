// The protobuf fields of roles, and of priorities.
import { type Fields, labelSelector, objectMeta, pointer } from './fields.ts';

const metadata: Fields[string] = [1, objectMeta];

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
export const rightsKinds: Readonly<Record<string, Fields>> = {
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
