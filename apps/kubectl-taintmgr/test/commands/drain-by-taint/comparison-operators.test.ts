import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

// Tolerations with Lt and Gt count in a drain where they count for the controller.

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
