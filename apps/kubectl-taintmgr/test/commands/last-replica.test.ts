// What commands say of the last replica of taintmgr-controller, which its leader keeps.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { deployment, type KubeObject } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { temporaryFiles } from '../world/simulate-files.ts';
import { leaveTaints, startTestCluster, type TestCluster } from '../world/test-cluster.ts';

const { write: file } = temporaryFiles();
const namespace = 'taintmgr-system';
const topology = {
  ...{ region: 'r', zones: ['a'], nodesPerZone: 2, budgets: [] },
  workloads: [
    deployment(namespace, 'taintmgr-controller', { replicas: 2 }),
    deployment('shop', 'web', { replicas: 2 }),
  ],
};
const nodes = ['a-1', 'a-2'];

/** The pod of this name leads, by its lease and what it publishes. */
function lead({ api }: TestCluster, name: string): void {
  const [holder, time] = [`${name}_1`, new Date().toISOString().replace('Z', '000Z')];
  const lease = { holderIdentity: holder, leaseDurationSeconds: 3600, renewTime: time };
  api.create('leases', {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    ...{ metadata: { namespace, name: 'taintmgr-controller' }, spec: lease },
  });
  const made = api.create('taintmanagers.taintmgr.dev', {
    ...{
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'TaintManager',
      metadata: { name: 'taintmgr' },
    },
  });
  const status = {
    ...{ leader: holder, renewTime: time, startedAt: time, settings: { mode: 'delete' } },
    ...{ controllers: ['taint-eviction-controller'], features: ['last-replica'] },
  };
  api.update('taintmanagers.taintmgr.dev', { ...made, status } as KubeObject, 'status');
}

describe('of the last replica of taintmgr-controller', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(topology);
    process.env.KUBECONFIG = cluster.kubeconfig;
    await installDefinitions(cluster.api, customResourceDefinitions());
    leaveTaints(cluster.api);
    const [pod] = cluster.api.list('pods', namespace);
    lead(cluster, pod?.metadata.name ?? assert.fail());
  });
  after(() => cluster.stop());

  it('the plan of a drain says that it stays until another is ready', async () => {
    const line = `drain-by-taint work=now ${nodes.join(' ')} --disable-eviction --force --dry-run=client`;
    const { code, out, err } = await run(...line.split(' '));
    assert.equal(code, 0, err);
    const [first, ...more] = out.split('\n').filter((text) => text.includes('last replica'));
    assert.match(
      first ?? out,
      / taintmgr-controller-\S+ +evict +\+0s +last replica \(needs time\) /,
    );
    assert.match(
      first ?? out,
      / the last ready replica of Deployment taintmgr-controller; it is evicted when/,
    );
    assert.deepEqual(more, []);
    const one = await run(...line.replace(' a-2', '').split(' '));
    assert.doesNotMatch(one.out, /last replica/);
  });

  it('a simulation keeps it, and kube-controller-manager does not', async () => {
    const events = nodes.map(
      (node) => `- {at: 10s, taint: {node: ${node}, taint: 'bad:NoExecute'}}`,
    );
    const script = file('bad.yaml', `events:\n${events.join('\n')}\n`);
    const line = ['simulate', '--script', script, '--until', '2m', '--compare', '-o', 'json'];
    const { code, out, err } = await run(...line);
    assert.equal(code, 0, err);
    const evicted = JSON.parse(out).runs.map(({ evictions }: { evictions: readonly object[] }) => {
      return evictions.filter((one) => JSON.stringify(one).includes('taintmgr-controller-')).length;
    });
    assert.deepEqual(evicted, [1, 2]);
  });

  it('status counts it', async () => {
    const { api } = cluster;
    for (const name of nodes) {
      const node = api.get('nodes', '', name) ?? assert.fail(name);
      const taints = [{ key: 'bad', value: '', effect: 'NoExecute' }];
      api.update('nodes', { ...node, spec: { ...node.spec, taints } });
    }
    const { out, err } = await run('status');
    assert.match(
      out,
      /^2 tainted nodes, \d evictions pending.*, 1 kept as the last ready replica of taintmgr-controller; next now$/m,
      err,
    );
  });
});
