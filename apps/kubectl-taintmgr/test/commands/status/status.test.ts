import assert from 'node:assert/strict';
import { it } from 'node:test';
import { run } from '../../world/run.ts';
import { ago } from '../../world/shop-cluster.ts';
import { startTestCluster } from '../../world/test-cluster.ts';

it('status says what controllers have said about clocks', async (t) => {
  const cluster = await startTestCluster(null);
  t.after(() => cluster.stop());
  process.env.KUBECONFIG = cluster.kubeconfig;
  const lease = { kind: 'Lease', namespace: 'kube-system', name: 'taintmgr-controller' };
  const say = (name: string, reason: string, message: string, seconds: number): void => {
    cluster.api.create('events', {
      metadata: { name, namespace: 'kube-system' },
      involvedObject: { ...lease, apiVersion: 'coordination.k8s.io/v1' },
      ...{ reason, message, type: 'Warning', lastTimestamp: ago(seconds) },
    });
  };
  say('a', 'ClockStepped', 'cp_1: the clock of this machine was set back by 10m', 60);
  say('b', 'LeaderElection', 'cp_1 became leader', 30);
  const { out } = await run('status');
  const lines = out.split('\n').filter((line) => line.startsWith('clock'));
  assert.equal(lines.length, 1);
  assert.match(`${lines}`, /^clock: cp_1: .* set back by 10m \(1m\d?s? ago\)$/);
  const { out: json } = await run('status', '-o', 'json');
  assert.equal(JSON.parse(json).clocks.length, 1);
});

it('status of a cluster without nodes says so, and prints no heads without rows', async (t) => {
  const cluster = await startTestCluster(null);
  t.after(() => cluster.stop());
  process.env.KUBECONFIG = cluster.kubeconfig;
  const { code, out } = await run('status');
  assert.equal(code, 0);
  assert.match(out, /\n\nNo nodes found\.\n\n0 tainted nodes, 0 evictions pending\n$/);
  assert.equal((await run('status', '--no-headers')).out, '');
});
