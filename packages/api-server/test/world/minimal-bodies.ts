// The least that a manifest of each kind must say.
import type { KubeObject } from '@taintmgr/sim-cluster';
import { apiVersionOf, type Resource } from '@taintmgr/sim-cluster/server';

const containers = [{ name: 'c', image: 'registry.example/c:1' }];
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers } };
export const workload = { spec: { selector: { matchLabels: labels }, template } };
const roleRef = { kind: 'ClusterRole', name: 'view' };
const binding = { roleRef, subjects: [{ kind: 'User', name: 'u' }] };
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }];
const definition = {
  group: 'example.com',
  scope: 'Namespaced',
  names: { plural: 'widgets', kind: 'Widget' },
  versions: [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
  ],
};

/** The least that a kind must say beside its name. */
const bodies: Readonly<Record<string, object>> = {
  pods: { spec: { containers } },
  deployments: workload,
  replicasets: workload,
  statefulsets: workload,
  daemonsets: workload,
  replicationcontrollers: { spec: { selector: labels, template } },
  // Without a selector of its own, that of a Job is its uid, which no file has.
  jobs: {
    spec: {
      ...workload.spec,
      manualSelector: true,
      template: { metadata: { labels }, spec: { containers, restartPolicy: 'Never' } },
    },
  },
  // Admission adds this taint to a new node alone.
  nodes: {
    spec: {
      podCIDR: '10.0.0.0/24',
      taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
    },
  },
  secrets: { stringData: { a: 'b' } },
  services: { spec: { ports: [{ port: 80 }], clusterIP: '10.96.7.7' } },
  endpointslices: { addressType: 'IPv4', endpoints: [], ports: [{ port: 80 }] },
  controllerrevisions: { data: { a: 1 }, revision: 1 },
  events: { involvedObject: { kind: 'Pod', name: 'x', namespace: 'default' } },
  poddisruptionbudgets: { spec: { minAvailable: 1 } },
  rolebindings: binding,
  clusterrolebindings: binding,
  devicetaintrules: { spec: { taint: { key: 'health', effect: 'NoExecute' } } },
  resourceslices: {
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      nodeName: 'n1',
      devices: [{ name: 'gpu-0', taints: [{ key: 'health', effect: 'NoExecute' }] }],
    },
  },
  resourceclaims: {
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } },
  },
  customresourcedefinitions: { spec: definition },
  validatingadmissionpolicies: {
    spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] },
  },
  validatingadmissionpolicybindings: {
    spec: {
      policyName: 'p',
      validationActions: ['Deny'],
      matchResources: { resourceRules: rules },
    },
  },
  validatingwebhookconfigurations: {
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig: { service: { namespace: 'default', name: 's' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules,
      },
    ],
  },
};

/** The smallest object of a kind. */
export function minimal({ plural }: Resource): KubeObject {
  const name = plural === 'customresourcedefinitions' ? 'widgets.example.com' : 'x';
  return { metadata: { name }, ...bodies[plural] };
}

/** Where objects of a kind are made. */
export function pathOf(resource: Resource): string {
  const { group, plural, namespaced } = resource;
  const root = `${group ? '/apis' : '/api'}/${apiVersionOf(resource)}`;
  return `${root}/${namespaced ? 'namespaces/default/' : ''}${plural}`;
}
