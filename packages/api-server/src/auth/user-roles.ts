// The cluster roles for people that every cluster has: view, edit and admin.
import type { Rule } from '@taintmgr/sim-cluster/server';

/** A role that others add to, by the label `rbac.authorization.k8s.io/aggregate-to-NAME: "true"`. */
export interface UserRole {
  readonly rules: readonly Rule[];
  /** All that this one may, it may too. */
  readonly includes?: string;
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];

function rule(verbs: readonly string[], apiGroup: string, resources: string): Rule {
  return { verbs, apiGroups: [apiGroup], resources: resources.trim().split(/\s+/) };
}

/** As the real API server makes them, but for groups that are gone. */
export const userRoles: Readonly<Record<string, UserRole>> = {
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
