import assert from 'node:assert/strict';
import { it } from 'node:test';
import { run } from '../../world/run.ts';
import { ago } from '../../world/shop-cluster.ts';
import { startTestCluster, startWithDefinitions } from '../../world/test-cluster.ts';

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
  assert.match(`${lines}`, /^clock: cp_1: .* set back by 10m \(1m(\d+s)? ago\)$/);
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

it('status says who leads by what the leader publishes, and how old that is', async (t) => {
  const cluster = await startWithDefinitions();
  t.after(() => cluster.stop());
  process.env.KUBECONFIG = cluster.kubeconfig;
  const publish = async (seconds: number, leading: 'True' | 'False'): Promise<string> => {
    const time = ago(seconds);
    const common = { lastTransitionTime: time, reason: 'Because' };
    const stored = 'taintmanagers.taintmgr.dev';
    if (cluster.api.list(stored).length > 0) cluster.api.delete(stored, '', 'taintmgr');
    cluster.api.load([
      {
        apiVersion: 'taintmgr.dev/v1alpha1',
        kind: 'TaintManager',
        metadata: { name: 'taintmgr', uid: 'u1' },
        status: {
          ...{
            leader: 'cp_1',
            version: '1.2.3',
            renewTime: time,
            startedAt: '2026-01-01T00:00:00Z',
          },
          settings: { mode: 'evict', 'delete-after': 'never' },
          conditions: [
            { type: 'Leading', status: leading, message: '', ...common },
            { type: 'CacheStale', status: 'True', message: 'nothing is heard', ...common },
          ],
        },
      },
    ]);
    const { out } = await run('status');
    return out.split('\n').slice(2, 5).join('\n');
  };
  assert.match(
    await publish(4, 'True'),
    /^TaintManager taintmgr: {5}cp_1 1\.2\.3 leads since 2026-01-01T00:00:00Z, heartbeat \d+s ago\n {27}--mode=evict --delete-after=never\n {27}CacheStale: nothing is heard$/,
  );
  assert.match(
    await publish(42, 'True'),
    /^TaintManager taintmgr: {5}cp_1 1\.2\.3 was not heard of for [45]\ds\n/,
  );
  assert.match(
    await publish(4, 'False'),
    /^TaintManager taintmgr: {5}cp_1 1\.2\.3 stopped leading \d+s ago\n/,
  );
});
