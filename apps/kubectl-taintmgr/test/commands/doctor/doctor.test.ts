import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node, pdb, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { ago } from '../../world/shop-cluster.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// What `doctor` finds in a cluster where nothing is as it should be.

describe('doctor', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    for (const name of ['shop', 'taintmgr-system'])
      api.create('namespaces', { metadata: { name } });
    const bad = { key: 'bad', effect: 'NoExecute' };
    const made = api.create('nodes', node('n1', { spec: { taints: [bad] } }));
    api.update('nodes', { ...made, metadata: { ...made.metadata, managedFields: [{}] } });
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
    // Nobody counts what this one selects.
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api', uid: 'api' };
    const api1 = pod('shop', 'api-1', { labels: { app: 'api' }, spec: { nodeName: 'n1' } });
    const ownerReferences = [{ ...owner, controller: true }];
    api.create('pods', { ...api1, metadata: { ...api1.metadata, ownerReferences } });
    api.create('poddisruptionbudgets', pdb('shop', 'api', { maxUnavailable: 1 }));
    lease('kube-controller-manager', 3600);
    lease('taintmgr-controller', 3600);
  });
  after(() => cluster.stop());

  function lease(
    name: string,
    leaseDurationSeconds: number,
    namespace = 'kube-system',
    annotations = {},
  ): void {
    const renewTime = ago(1).replace('Z', '.000000Z');
    cluster.api.create('leases', {
      metadata: { name, namespace, annotations },
      spec: {
        holderIdentity: namespace === 'kube-system' ? `${name}-host` : namespace,
        leaseDurationSeconds,
        renewTime,
      },
    });
  }

  const findings = async (): Promise<readonly string[]> => {
    const path = 'jsonpath={range .findings[*]}{.level} {.check} {.about}: {.message}{"\\n"}{end}';
    const { out } = await run('doctor', '-o', path);
    return out
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('OK'))
      .map((line) => line.replaceAll(/renewed \w+ ago/g, 'renewed 1s ago'));
  };

  it('names everything, and exits with 2', async () => {
    assert.deepEqual(await findings(), [
      'WARN overlap : taintmgr-controller runs (taintmgr-controller-host, renewed 1s ago); ' +
        'kube-controller-manager: may evict (kube-controller-manager-host, renewed 1s ago): ' +
        'its flags cannot be seen, as it has no pod here',
      'WARN budgets pdb/api -n shop: pod api-1 is selected, but its status counts none: the Eviction API refuses until that changes',
      'WARN budgets pdb/none -n shop: selects no pods',
      'WARN budgets pdb/one -n shop: needs 1 of 1 pods healthy (1 are): it never allows an eviction',
      'FAIL budgets pdb/one, pdb/two -n shop: pod web is selected by all of them: the Eviction API refuses to evict such pods',
      'WARN taints node/n1: bad:NoExecute has no timeAdded, and managedFields do not show when it was added: ' +
        'deadlines count from when it is first seen',
      'INFO bare-pods : 1 pod has no controller (shop/web): it is not recreated after an eviction',
    ]);
    const { code, out } = await run('doctor');
    assert.equal(code, 2);
    assert.match(out, /^FAIL {2}budgets {2}pdb\/one, pdb\/two -n shop\n {6}pod web is selected/);
    assert.match(out, /\n\n1 failure, 5 warnings, 1 note, \d+ checks ok\n$/);
  });

  it('names nodes that drains have changed', async () => {
    await run('drain-by-taint', 'x:NoSchedule', 'n1', '--no-cordon', '--force', '--timeout=4s');
    const [drain] = (await findings()).filter((line) => / drains /.test(line));
    assert.match(drain ?? '', /^INFO drains drain-\S+: has changed n1, started \d+s ago$/);
  });

  it('finds a clock that is wrong', async (t) => {
    t.mock.method(cluster.api.clock, 'now', () => Date.now() - 60_000);
    const [clock] = (await findings()).filter((line) => / clock /.test(line));
    assert.match(clock ?? '', /^FAIL clock : this machine is \d+s ahead of the API server; /);
  });

  it('a taint without timeAdded is well where managedFields show when it was added', async () => {
    const { api } = cluster;
    const taints = [{ key: 'worse', effect: 'NoExecute' }];
    api.create('nodes', node('n2', { spec: { taints } }));
    const found = await findings();
    api.delete('nodes', '', 'n2');
    const ofTaints = found.filter((line) => / taints /.test(line));
    assert.deepEqual(
      ofTaints.map((line) => line.split(':')[0]),
      ['WARN taints node/n1'],
    );
  });

  describe('beside a kube-controller-manager that has a pod', () => {
    const text = async (...args: readonly string[]): Promise<string> => (await run(...args)).out;
    const overlap = async (): Promise<string> => {
      const path =
        'jsonpath={range .findings[?(@.check=="overlap")]}{.level}: {.message} ({.fix}){end}';
      const printed = await text('doctor', '-o', path);
      return printed.replaceAll(/renewed \w+ ago/g, 'renewed 1s ago');
    };

    function manager(...flags: readonly string[]): void {
      const { api } = cluster;
      const command = ['kube-controller-manager', ...flags];
      const containers = [{ name: 'kube-controller-manager', image: 'kcm', command }];
      const one = pod('kube-system', 'kcm-cp', { spec: { nodeName: 'cp', containers } });
      const labels = { component: 'kube-controller-manager' };
      if (api.get('pods', 'kube-system', 'kcm-cp')) {
        api.delete('pods', 'kube-system', 'kcm-cp', { gracePeriodSeconds: 0 });
      }
      api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
    }

    it('does not ask for what has been done', async () => {
      manager('--controllers=*,-taint-eviction-controller');
      assert.equal(
        await overlap(),
        'OK: taintmgr-controller runs (taintmgr-controller-host, renewed 1s ago) ()',
      );
      // Another installation that shares no work with it is as it should be.
      const controllers = { 'taintmgr.dev/controllers': 'node-pressure-controller' };
      lease('taintmgr-controller', 3600, 'taintmgr-system', controllers);
      assert.equal(
        await overlap(),
        'OK: taintmgr-controller runs (taintmgr-controller-host, renewed 1s ago) ()',
      );
      cluster.api.delete('leases', 'taintmgr-system', 'taintmgr-controller');
      assert.match(
        await text('status'),
        /^kube-controller-manager: +runs, does not evict for taints \(--controllers=\*,-taint-eviction-controller\)$/m,
      );
    });

    it('says who evicts though nobody holds a lease', async () => {
      for (const name of ['kube-controller-manager', 'taintmgr-controller']) {
        cluster.api.delete('leases', 'kube-system', name);
      }
      manager('--leader-elect=false');
      assert.equal(
        await overlap(),
        'INFO: kube-controller-manager (kcm-cp) evicts for NoExecute taints here, without asking ' +
          'PDBs, and its timers start again when it restarts ()',
      );
      assert.match(
        await text('status'),
        /^kube-controller-manager: +evicts \(no leader election lease; pod kube-system\/kcm-cp\)$/m,
      );
    });

    it('says that it is unknown where nothing is seen', async () => {
      cluster.api.delete('pods', 'kube-system', 'kcm-cp', { gracePeriodSeconds: 0 });
      assert.equal(
        await overlap(),
        'INFO: whether kube-controller-manager evicts for NoExecute taints here is unknown: it shows ' +
          'neither a pod nor a lease; assume that it does (start it with ' +
          '--controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
          '--kube-controller-manager-runs=node-lifecycle-controller; kubectl taintmgr doctor --probe shows whether it does)',
      );
      assert.match(
        await text('status'),
        /^taintmgr-controller: +not detected \(no leader election lease\)$/m,
      );
    });
  });
});
