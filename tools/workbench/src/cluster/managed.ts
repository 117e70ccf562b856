// A kube-controller-manager that nobody can configure, as in a managed cluster: it evicts.
import { randomBytes } from 'node:crypto';
import type { EmbeddedCluster } from '@taintmgr/api-server';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import type { User } from '@taintmgr/sim-cluster';

/** Its controllers are users of their own, as on kubeadm. */
const name = 'system:serviceaccount:kube-system:node-controller';
const role = 'system:controller:node-controller';
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** What it may do, by objects that kubectl shows. */
const rules = [
  { verbs, apiGroups: [''], resources: ['nodes', 'nodes/status', 'pods', 'pods/status', 'events'] },
  { verbs, apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
];

export const managerToken: string = randomBytes(16).toString('hex');

/** Who it is to the API server. */
export const managerUser: User = { name, groups: ['system:serviceaccounts'], rules: [] };

/** Starts it in a cluster that knows its token. */
export async function startManager({
  cluster: { api },
  kubeconfig,
}: EmbeddedCluster): Promise<UpstreamManager> {
  api.create('clusterroles', { metadata: { name: role }, rules });
  api.create('clusterrolebindings', {
    metadata: { name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: 'node-controller', namespace: 'kube-system' }],
  });
  const { access } = await loadKubeconfig({ kubeconfig, token: managerToken });
  const manager = new UpstreamManager(access);
  manager.start();
  return manager;
}
