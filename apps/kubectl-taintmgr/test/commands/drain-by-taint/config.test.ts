import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

// Tolerations with Lt and Gt count where they count for the one who evicts here.

const managers = 'taintmanagers.taintmgr.dev';
const drain = ['drain-by-taint', 'level=10:NoSchedule', 'n1', '--force', '--dry-run=client'];

/** Says what the leader of a controller says that runs with these feature gates. */
function publish({ api }: TestCluster, gates: string): void {
  const renewTime = new Date().toISOString();
  const metadata = { name: 'taintmgr' };
  const known = api.get(managers, '', metadata.name);
  const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager', metadata };
  const created = known ?? api.create(managers, object as KubeObject);
  const status = {
    ...{ leader: 'cp_1', renewTime, startedAt: renewTime },
    controllers: ['taint-eviction-controller'],
    settings: { mode: 'evict', 'feature-gates': gates },
  };
  api.update(managers, { ...created, status } as KubeObject, 'status');
}

describe('a drain and tolerations that compare numbers', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    const one = pod('default', 'above-5', { spec: { nodeName: 'n1' } });
    const toleration = { key: 'level', operator: 'Gt', value: '5', effect: 'NoExecute' };
    // As they come from a cluster that has the feature gate.
    const { unloaded } = api.load([
      node('n1'),
      { ...one, spec: { ...one.spec, tolerations: [toleration] } },
    ]);
    assert.deepEqual(unloaded, []);
  });
  after(() => cluster.stop());

  for (const compares of [true, false]) {
    it(`goes by the flags of kube-controller-manager where that evicts: ${compares}`, async () => {
      const gate = `--feature-gates=TaintTolerationComparisonOperators=${compares}`;
      const manager = 'kube-controller-manager';
      const spec = {
        nodeName: 'cp',
        containers: [{ name: 'm', image: 'm', command: [manager, gate] }],
      };
      const one = pod('kube-system', manager, { spec });
      const labels = { component: manager };
      cluster.api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
      const planned = await run(...drain);
      assert.equal(/^1 pod stays: 1 tolerating the taint/m.test(planned.out), compares);
      const asked = await run('explain', 'node', 'n1', '--with-taint=level=10:NoExecute');
      assert.match(asked.out, /^Evicted by: +kube-controller-manager/m);
      assert.equal(/^default +above-5 +Keep /m.test(asked.out), compares);
      cluster.api.delete('pods', 'kube-system', manager, { gracePeriodSeconds: 0 });
    });
  }

  it('does not go by the flags of kube-controller-manager where taintmgr-controller evicts unseen', async () => {
    const manager = 'kube-controller-manager';
    const flags = [
      '--controllers=*,-taint-eviction-controller',
      '--feature-gates=TaintTolerationComparisonOperators=true',
    ];
    const containers = [{ name: 'm', image: 'm', command: [manager, ...flags] }];
    const one = pod('kube-system', manager, { spec: { nodeName: 'cp', containers } });
    const labels = { component: manager };
    cluster.api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    cluster.api.create('leases', {
      metadata: { namespace: 'kube-system', name: 'taintmgr-controller' },
      spec: { holderIdentity: 'cp_1', leaseDurationSeconds: 600, renewTime },
    } as KubeObject);
    const asked = await run('explain', 'node', 'n1', '--with-taint=level=10:NoExecute');
    assert.match(asked.out, /^Evicted by: +taintmgr-controller/m);
    assert.match(asked.out, /^default +above-5 +Evict /m);
    cluster.api.delete('leases', 'kube-system', 'taintmgr-controller');
    cluster.api.delete('pods', 'kube-system', manager, { gracePeriodSeconds: 0 });
  });

  it('keeps a pod that tolerates the taint by them where the controller does', async () => {
    publish(cluster, 'TaintTolerationComparisonOperators=true');
    const { out } = await run(...drain);
    assert.match(out, /^1 pod stays: 1 tolerating the taint without limit$/m);
  });

  it('evicts it where the controller does', async () => {
    publish(cluster, 'TaintTolerationComparisonOperators=false');
    const { out } = await run(...drain);
    assert.match(out, /^n1 +default +above-5 +evict .* no toleration for level=10$/m);
  });
});
