// The rules of the RBAC objects in the cluster.

import {
  entry,
  type KubeObject,
  labelSelectorRequirements,
  matchesLabels,
  type Rule,
  type Store,
  type User,
} from '@taintmgr/sim-cluster/server';
import { clusterRoles, type Grant } from './grants.ts';

// The cluster roles for people that every cluster has: view, edit and admin.

/** A role that others add to, by the label `rbac.authorization.k8s.io/aggregate-to-NAME: "true"`. */
interface UserRole {
  readonly rules: readonly Rule[];
  /** All that this one may, it may too. */
  readonly includes?: string;
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];

function rule(verbs: readonly string[], apiGroup: string, resources: string): Rule {
  return { verbs, apiGroups: [apiGroup], resources: resources.trim().split(/\s+/) };
}

/** The roles as the real API server makes them, without groups that no longer exist. */
const userRoles: Readonly<Record<string, UserRole>> = {
  view: {
    rules: [
      rule(
        read,
        '',
        `configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods
        replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status
        bindings events limitranges namespaces namespaces/status pods/log pods/status
        replicationcontrollers/status resourcequotas resourcequotas/status`,
      ),
      rule(read, 'discovery.k8s.io', 'endpointslices'),
      rule(
        read,
        'apps',
        `controllerrevisions daemonsets daemonsets/status deployments deployments/scale
        deployments/status replicasets replicasets/scale replicasets/status statefulsets
        statefulsets/scale statefulsets/status`,
      ),
      rule(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      rule(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      rule(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      rule(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
      rule(read, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
    ],
  },
  edit: {
    includes: 'view',
    rules: [
      rule(read, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      rule(['impersonate'], '', 'serviceaccounts'),
      rule(['create'], '', 'pods/eviction serviceaccounts/token'),
      rule(
        write,
        '',
        `configmaps events persistentvolumeclaims pods pods/attach pods/exec pods/portforward
        pods/proxy replicationcontrollers replicationcontrollers/scale secrets serviceaccounts
        services services/proxy`,
      ),
      rule(
        write,
        'apps',
        `daemonsets deployments deployments/rollback deployments/scale replicasets
        replicasets/scale statefulsets statefulsets/scale`,
      ),
      rule(write, 'autoscaling', 'horizontalpodautoscalers'),
      rule(write, 'batch', 'cronjobs jobs'),
      rule(write, 'policy', 'poddisruptionbudgets'),
      rule(write, 'networking.k8s.io', 'ingresses networkpolicies'),
      rule(write, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
      rule([...read, ...write], 'coordination.k8s.io', 'leases'),
    ],
  },
  admin: {
    includes: 'edit',
    rules: [
      rule(['create'], 'authorization.k8s.io', 'localsubjectaccessreviews'),
      rule([...read, ...write], 'rbac.authorization.k8s.io', 'rolebindings roles'),
    ],
  },
};

/** The stored resources that grant rights. */
export const rbacResources = [
  'clusterrolebindings',
  'clusterroles',
  'rolebindings',
  'roles',
] as const;

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** The role that a binding is of. */
export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/** The rights that RBAC objects grant a user. */
export interface RbacGrants {
  readonly grants: readonly Grant[];
  /** Roles that bindings of his name and that are not there, as the real server complains. */
  readonly complaints: readonly string[];
}

/** Reads the bindings and roles in the store; the namespace of a binding limits its grants. */
export function rbacGrants(store: Store, user: User): RbacGrants {
  const grants: Grant[] = [];
  const complaints: string[] = [];
  const list = (resource: string): readonly KubeObject[] => store.collection(resource).list('');
  for (const binding of [...list('clusterrolebindings'), ...list('rolebindings')]) {
    const subject = subjectOf(binding, user);
    if (subject === null) continue;
    const roleRef: RoleRef = binding.roleRef ?? { kind: '', name: '' };
    const { namespace } = binding.metadata;
    const rules = rulesOf(store, roleRef, namespace ?? '');
    if (rules === null) {
      complaints.push(
        `${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io "${roleRef.name}" not found`,
      );
      continue;
    }
    const by = `${binding.kind} "${binding.metadata.name}${namespace ? `/${namespace}` : ''}"`;
    const reason = `RBAC: allowed by ${by} of ${roleRef.kind} "${roleRef.name}" to ${subject}`;
    const home = roleRef.kind === 'Role' ? `${namespace}/` : '';
    const role = `${roleRef.kind} ${home}${roleRef.name}`;
    for (const rule of rules) {
      // Non-resource URLs belong to no namespace.
      if (namespace && rule.nonResourceURLs) continue;
      grants.push({ rule: namespace ? { ...rule, namespace } : rule, role, reason });
    }
  }
  return { grants, complaints };
}

/** The first subject of the binding that means the user, in words; null: none does. */
function subjectOf({ subjects, metadata }: KubeObject, user: User): string | null {
  const named: readonly Subject[] = subjects ?? [];
  for (const { kind, name, namespace = metadata.namespace ?? '' } of named) {
    if (kind === 'User' && name === user.name) return `User "${name}"`;
    if (kind === 'Group' && user.groups.includes(name)) return `Group "${name}"`;
    const account = `system:serviceaccount:${namespace}:${name}`;
    if (kind === 'ServiceAccount' && account === user.name) {
      return `ServiceAccount "${name}/${namespace}"`;
    }
  }
  return null;
}

/** The rules of the role; null when there is none of the name. */
export function rulesOf(
  store: Store,
  { kind, name }: RoleRef,
  namespace: string,
): readonly Rule[] | null {
  if (kind === 'Role') {
    const role = store.get('roles', namespace, name);
    return role ? ownRules(role) : null;
  }
  const role = store.get('clusterroles', '', name);
  if (!role) return entry(clusterRoles, name) ?? userRules(store, name);
  const selectors: readonly unknown[] = role.aggregationRule?.clusterRoleSelectors ?? [];
  const aggregated = store
    .collection('clusterroles')
    .list('')
    .filter(({ metadata }) =>
      selectors.some((selector) => {
        const requirements = labelSelectorRequirements(selector as KubeObject);
        return requirements !== null && matchesLabels(requirements, metadata.labels ?? {});
      }),
    );
  return [role, ...aggregated].flatMap(ownRules);
}

/** The rules of a role for people, with those that others have added to it. */
function userRules(store: Store, name: string): readonly Rule[] | null {
  const role = entry(userRoles, name);
  if (!role) return null;
  const label = `rbac.authorization.k8s.io/aggregate-to-${name}`;
  const added = store
    .collection('clusterroles')
    .list('')
    .filter(({ metadata }) => metadata.labels?.[label] === 'true');
  const included = role.includes ? (userRules(store, role.includes) ?? []) : [];
  return [...role.rules, ...included, ...added.flatMap(ownRules)];
}

/** A rule as it is stored: a loaded rule may lack its verbs. */
type StoredRule = Omit<Rule, 'verbs' | 'namespace'> & { readonly verbs?: Rule['verbs'] | null };

/** The rules that a role says itself. In RBAC an empty list of names is none at all. */
export function ownRules(role: KubeObject): readonly Rule[] {
  const rules: readonly StoredRule[] = role.rules ?? [];
  return rules.map(({ verbs, resourceNames = [], ...rule }) => ({
    ...rule,
    verbs: verbs ?? [],
    ...(resourceNames.length > 0 ? { resourceNames } : {}),
  }));
}
