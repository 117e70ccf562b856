// The shapes of RBAC kinds.
import { labelSelector, topLevel } from './metadata.ts';
import { always, atomic, list, type Struct, struct } from './types.ts';

const policyRule = struct('PolicyRule', {
  verbs: always(list('string')),
  apiGroups: list('string'),
  resources: list('string'),
  resourceNames: list('string'),
  nonResourceURLs: list('string'),
});

const roleRef = atomic(
  struct('RoleRef', { apiGroup: 'string!', kind: 'string!', name: 'string!' }),
);

const subject = struct('Subject', {
  kind: 'string!',
  apiGroup: 'string',
  name: 'string!',
  namespace: 'string',
});

/** rbac.authorization.k8s.io/v1 Role. */
export const role: Struct = topLevel('Role', { rules: always(list(policyRule)) });

/** rbac.authorization.k8s.io/v1 ClusterRole. */
export const clusterRole: Struct = topLevel('ClusterRole', {
  rules: always(list(policyRule)),
  aggregationRule: struct('AggregationRule', { clusterRoleSelectors: list(labelSelector) }),
});

const binding = { subjects: list(subject), roleRef: always(roleRef) };

/** rbac.authorization.k8s.io/v1 RoleBinding. */
export const roleBinding: Struct = topLevel('RoleBinding', binding);

/** rbac.authorization.k8s.io/v1 ClusterRoleBinding. */
export const clusterRoleBinding: Struct = topLevel('ClusterRoleBinding', binding);
