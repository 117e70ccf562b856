import type { Rule, User } from '@taintmgr/sim-cluster/server';

/** The rules that apply to a user, and where they come from; those that everybody has. */
export interface Grant {
  /** The rule that grants the right. */
  readonly rule: Rule;
  /** `ClusterRole NAME`, `Role NAMESPACE/NAME`; '' for a built-in rule. */
  readonly role: string;
  /** The reason as reviews give it; '' for none. */
  readonly reason: string;
}

const authenticated = 'system:authenticated';
const unauthenticated = 'system:unauthenticated';

/** The cluster roles that every cluster has, as far as they matter here. */
export const clusterRoles: Readonly<Record<string, readonly Rule[]>> = {
  'cluster-admin': [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
  'system:auth-delegator': [
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['subjectaccessreviews'],
    },
  ],
  'system:basic-user': [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ],
  'system:discovery': [
    {
      verbs: ['get'],
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ],
    },
  ],
  'system:public-info-viewer': [
    {
      verbs: ['get'],
      nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
    },
  ],
};

/** Who is bound to them in every cluster, by bindings of the same name. */
const boundGroups: readonly (readonly [role: string, groups: readonly string[]])[] = [
  ['system:basic-user', [authenticated]],
  ['system:discovery', [authenticated]],
  ['system:public-info-viewer', [authenticated, unauthenticated]],
];

/** True if the user is allowed everything. */
export function isMaster({ groups }: User): boolean {
  return groups.includes('system:masters');
}

/** Users are not changed, and each asks often. */
const granted = new WeakMap<User, readonly Grant[]>();

/** The grants that the user has in every cluster, and those that came with the token. */
export function ownGrants(user: User): readonly Grant[] {
  const known = granted.get(user) ?? grantsOf(user);
  granted.set(user, known);
  return known;
}

function grantsOf(user: User): readonly Grant[] {
  const shared = boundGroups.flatMap(([role, groups]) => {
    const group = groups.find((one) => user.groups.includes(one));
    if (group === undefined) return [];
    const reason = `RBAC: allowed by ClusterRoleBinding "${role}" of ClusterRole "${role}" to Group "${group}"`;
    return (clusterRoles[role] ?? []).map((rule) => ({ rule, role: '', reason }));
  });
  const rules = isMaster(user) ? (clusterRoles['cluster-admin'] ?? []) : user.rules;
  return [...shared, ...rules.map((rule) => ({ rule, role: '', reason: '' }))];
}
