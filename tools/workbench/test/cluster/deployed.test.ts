// The controller that is deployed into the cluster of `npm run cluster` runs as its Deployment says.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type EmbeddedCluster, startEmbedded } from '@taintmgr/api-server';
import { type ClusterApi, type KubeObject, namespace } from '@taintmgr/sim-cluster';
import { controllerToken, controllerUser, DeployedController } from '../../src/cluster/deployed.ts';

const system = 'taintmgr-system';
const name = 'taintmgr-controller';
const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };

/** A cluster with the rights that looking on needs. */
async function start(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({
    topology: none,
    users: new Map([[controllerToken, controllerUser]]),
  });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  api.create('namespaces', namespace(system));
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  api.create('clusterroles', { metadata: { name }, rules });
  api.create('clusterrolebindings', {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: system }],
  });
  return embedded;
}

/** The lease that its replica takes shows others that it runs. */
const argsOf = (lease: string): readonly string[] => [
  '--controllers=taint-eviction-controller',
  '--kube-controller-manager-runs=none',
  `--leader-elect-resource-name=${lease}`,
];

function deployment(lease: string): KubeObject {
  const env = [{ name: 'TAINTMGR_LEADER_ELECT_RESOURCE_NAMESPACE', value: system }];
  const container = { name: 'controller', image: name, args: argsOf(lease), env };
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  return {
    metadata: { name, namespace: system },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  };
}

/** Resolves when somebody holds the lease, or when nobody does any more. */
async function leased(api: ClusterApi, lease: string, byWhom: 'held' | 'free'): Promise<void> {
  const isSo = (): boolean => {
    const held = Boolean(api.get('leases', system, lease)?.spec.holderIdentity);
    return held === (byWhom === 'held');
  };
  await new Promise<void>((resolve) => {
    if (isSo()) resolve();
    const unsubscribe = api.subscribe(
      () => {
        if (!isSo()) return;
        unsubscribe();
        resolve();
      },
      new Set(['leases']),
    );
  });
}

describe('a controller that is deployed', () => {
  it('runs with its arguments and account, anew when they change, and ends with its Deployment', async (t) => {
    const embedded = await start(t);
    const { api } = embedded.cluster;
    const controller = new DeployedController(embedded);
    t.after(() => controller.stop());
    api.create('deployments', deployment('first'));
    await leased(api, 'first', 'held');
    const changed = structuredClone(api.get('deployments', system, name) ?? assert.fail());
    changed.spec.template.spec.containers[0].args = argsOf('second');
    api.update('deployments', changed);
    await leased(api, 'second', 'held');
    await leased(api, 'first', 'free');
    api.delete('deployments', system, name);
    await leased(api, 'second', 'free');
  });
});
