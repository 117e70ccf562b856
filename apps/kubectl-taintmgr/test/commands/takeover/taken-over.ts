import { afterEach, beforeEach } from 'node:test';
import { takeoverManifests } from '@taintmgr/k8s-adapter';
import { type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { startWithDefinitions, type TestCluster, type Users } from '../../world/test-cluster.ts';

export const us = 'system:serviceaccount:taintmgr-system:taintmgr-controller';
const upstream = 'system:serviceaccount:kube-system:node-controller';
export const deviceUser = 'system:serviceaccount:kube-system:device-taint-eviction-controller';
export const managers = 'taintmanagers.taintmgr.dev';

/** A cluster with our kinds, a node and some pods; who it belongs to is said by the test. */
async function startTakeoverCluster(users?: Users): Promise<TestCluster> {
  const cluster = await startWithDefinitions(users);
  const { api } = cluster;
  const name = 'everything';
  api.create('clusterroles', {
    metadata: { name },
    rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  });
  api.create('clusterrolebindings', {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [us, upstream, deviceUser].map((user) => ({ kind: 'User', name: user })),
  });
  api.create('nodes', node('n1'));
  for (const namespace of ['shop', 'cart']) {
    api.create('namespaces', { metadata: { name: namespace } });
    api.create('pods', pod(namespace, 'web', { spec: { nodeName: 'n1' } }));
  }
  return cluster;
}

/** One for each test, at which commands are pointed. */
export function useTakeoverCluster(users?: Users): () => TestCluster {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await startTakeoverCluster(users);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  afterEach(() => cluster.stop());
  return () => cluster;
}

/** The policies, as the controller installs them. */
export function installPolicies({ api }: TestCluster, users: readonly string[] = [us]): void {
  for (const manifest of takeoverManifests({ manager: 'taintmgr', users })) {
    const isPolicy = manifest.kind === 'ValidatingAdmissionPolicy';
    const plural = isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
    const { apiVersion, kind, metadata, spec } = structuredClone(manifest);
    api.create(plural, { apiVersion, kind, metadata, spec });
  }
}

/** A heartbeat of now, or of some time ago, with what the leader says of takeover and else. */
export function beat({ api }: TestCluster, takeover?: object, agoMs = 0, more = {}): void {
  const name = 'taintmgr';
  const found = api.get(managers, '', name) ?? create(api, name);
  const status = {
    renewTime: new Date(Date.now() - agoMs).toISOString(),
    leader: 'cp-1',
    settings: { mode: 'evict' },
    ...(takeover && { takeover }),
    ...more,
  };
  api.update(managers, { ...found, status }, 'status');
}

function create(api: TestCluster['api'], name: string): KubeObject {
  return api.create(managers, {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'TaintManager',
    metadata: { name },
  });
}

/** Puts a taint on the node, or takes all of them off. */
export function setTaint(cluster: TestCluster, key: string | null): void {
  const timeAdded = new Date().toISOString().replace(/[.]\d+/, '');
  setTaints(cluster, key === null ? [] : [{ key, effect: 'NoExecute', timeAdded }]);
}

/** As `kubectl taint` does: the taint does not say when it came. */
export function setPlainTaint(cluster: TestCluster, key: string): void {
  setTaints(cluster, [{ key, effect: 'NoExecute' }]);
}

function setTaints({ api }: TestCluster, taints: readonly object[]): void {
  const found = api.get('nodes', '', 'n1');
  if (!found) throw new Error('there is no node');
  api.update('nodes', { ...found, spec: { ...found.spec, taints } });
}

/** The value of the label of a namespace; undefined: it has none. */
export function labelOf({ api }: TestCluster, name: string): string | undefined {
  return api.get('namespaces', '', name)?.metadata.labels?.['taintmgr.dev/takeover'];
}
