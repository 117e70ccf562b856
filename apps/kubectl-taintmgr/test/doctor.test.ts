import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node, pdb, pod } from '@taintmgr/sim-cluster';
import { run } from './run.ts';
import { ago } from './shop-cluster.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';

// What `doctor` finds in a cluster where nothing is as it should be.

describe('doctor', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    api.create('namespaces', { metadata: { name: 'shop' } });
    api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
    const web = pod('shop', 'web', { spec: { nodeName: 'n1' } });
    api.create('pods', {
      ...web,
      metadata: { ...web.metadata, finalizers: ['example.com/never'] },
    });
    const budgets = [
      pdb('shop', 'one', { maxUnavailable: 1 }, { matchLabels: { app: 'web' } }),
      pdb('shop', 'two', { maxUnavailable: 1 }, { matchLabels: { app: 'web' } }),
      pdb('shop', 'none', { maxUnavailable: 1 }),
    ];
    for (const [index, budget] of budgets.entries()) {
      const created = api.create('poddisruptionbudgets', budget);
      const expectedPods = index === 2 ? 0 : 1;
      const status = {
        expectedPods,
        currentHealthy: expectedPods,
        desiredHealthy: index === 0 ? 1 : 0,
        disruptionsAllowed: index === 0 ? 0 : expectedPods,
        observedGeneration: created.metadata.generation,
      };
      api.update('poddisruptionbudgets', { ...created, status }, 'status');
    }
    lease('kube-controller-manager', 3600);
    lease('taintmgr-controller', 3600);
  });
  after(() => cluster.stop());

  function lease(name: string, leaseDurationSeconds: number): void {
    const renewTime = ago(1).replace('Z', '.000000Z');
    cluster.api.create('leases', {
      metadata: { name, namespace: 'kube-system' },
      spec: { holderIdentity: `${name}-host`, leaseDurationSeconds, renewTime },
    });
  }

  const findings = async (): Promise<readonly string[]> => {
    const path = 'jsonpath={range .findings[*]}{.level} {.check} {.about}: {.message}{"\\n"}{end}';
    const { out } = await run('doctor', '-o', path);
    return out
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('OK'))
      .map((line) => line.replaceAll(/renewed \d+s ago/g, 'renewed 1s ago'));
  };

  it('names everything, and exits with 2', async () => {
    assert.deepEqual(await findings(), [
      'WARN overlap : taintmgr-controller runs (taintmgr-controller-host, renewed 1s ago); ' +
        'kube-controller-manager: may evict (kube-controller-manager-host, renewed 1s ago): ' +
        'its flags cannot be seen, as it has no pod here',
      'WARN budgets pdb/none -n shop: selects no pods',
      'WARN budgets pdb/one -n shop: needs 1 of 1 pods healthy (1 are): it never allows an eviction',
      'FAIL budgets pdb/one, pdb/two -n shop: pod web is selected by all of them: the Eviction API refuses to evict such pods',
      'WARN taints node/n1: bad:NoExecute has no timeAdded: deadlines count from when it is first seen',
    ]);
    const { code, out } = await run('doctor');
    assert.equal(code, 2);
    assert.match(out, /^LEVEL +CHECK +ABOUT +FINDING +FIX\n/);
  });

  it('names nodes that drains have changed', async () => {
    await run('drain-by-taint', 'x:NoSchedule', 'n1', '--no-cordon', '--force', '--timeout=1s');
    const [drain] = (await findings()).filter((line) => / drains /.test(line));
    assert.match(drain ?? '', /^INFO drains drain-\S+: has changed n1, started \d+s ago$/);
  });

  it('tells a clock that is wrong', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
    const [clock] = (await findings()).filter((line) => / clock /.test(line));
    assert.match(clock ?? '', /^FAIL clock : this machine is \d+s ahead of the API server; /);
  });

  it('a taint whose start the controller wrote down is well', async () => {
    const found = cluster.api.get('nodes', '', 'n1');
    assert.ok(found);
    const owners = (found.metadata.managedFields ?? []) as readonly { readonly time?: string }[];
    const writtenAt = owners.find((owner) => JSON.stringify(owner).includes('f:taints'))?.time;
    const annotations = {
      ...found.metadata.annotations,
      'taintmgr.dev/taint-starts': JSON.stringify({
        taintsWrittenAt: writtenAt,
        'bad:NoExecute': ago(60),
      }),
    };
    cluster.api.update('nodes', { ...found, metadata: { ...found.metadata, annotations } });
    assert.deepEqual(
      (await findings()).filter((line) => / taints /.test(line)),
      [],
    );
  });
});
