import assert from 'node:assert/strict';
import { it } from 'node:test';
import { run } from '../../world/run.ts';
import { ago } from '../../world/shop-cluster.ts';
import {
  startTestCluster,
  startWithDefinitions,
  type TestCluster,
} from '../../world/test-cluster.ts';

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
  assert.match(out, /^0 tainted nodes, 0 evictions pending\n(?:.*\n)+\nNo nodes found\.\n\n/);
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
    return out.slice(out.indexOf('\nTaintManager ')).trim();
  };
  assert.match(
    await publish(4, 'True'),
    /^TaintManager taintmgr: {5}cp_1 1\.2\.3 leads since 2026-01-01T00:00:00Z, heartbeat \d+s ago\n {27}--mode=evict --delete-after=never\n {27}CacheStale: nothing is heard$/,
  );
  assert.match(
    await publish(42, 'True'),
    /^TaintManager taintmgr: {5}cp_1 1\.2\.3 was not heard of for [45]\ds$/,
  );
  assert.match(
    await publish(4, 'False'),
    /^TaintManager taintmgr: {5}cp_1 1\.2\.3 stopped leading \d+s ago$/,
  );
});

it('status and kubectl get say at once that pods stay where a NodeDrain is done', async (t) => {
  const cluster = await startWithDefinitions();
  t.after(() => cluster.stop());
  process.env.KUBECONFIG = cluster.kubeconfig;
  const message = 'every node is drained; 1 pod stays: shop/op (tolerates work without limit)';
  const said = { type: 'Drained', status: 'False', reason: 'PodsStay', message };
  const name = 'replace-the-kernel-of-blue-nodes';
  cluster.api.load([
    {
      ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain', metadata: { name, uid: 'u1' } },
      spec: { nodes: ['n1', 'n2'], taint: { key: 'maintenance.example.com/kernel-upgrade' } },
      status: {
        ...{ phase: 'Drained', nodes: 2, nodesDrained: 2, podsGone: 7, podsLeft: 0 },
        podsStaying: 1,
        conditions: [{ ...said, lastTransitionTime: ago(5) }],
      },
    },
  ]);
  const table = async (columns: RegExp): Promise<string> => {
    const { out } = await run('status');
    const lines = out.split('\n').slice(out.split('\n').findIndex((line) => columns.test(line)));
    return lines.slice(0, 2).join('\n');
  };
  assert.match(
    await table(/^NODEDRAIN /),
    /^NODEDRAIN .* STAYING .* BLOCKED BY\n.* Drained +2 of 2 +7 of 7 +1 +<none> +every node is drained; 1 pod stays: shop\/op/,
  );
  const rows = shownByKubectl(cluster, 'nodedrains');
  assert.deepEqual(rows[0], [
    'NAME',
    'PHASE',
    'NODES',
    'DRAINED',
    'PODS LEFT',
    'PODS STAYING',
    'AGE',
  ]);
  assert.deepEqual(rows[1]?.slice(1, -1), ['Drained', '2', '2', '0', '1']);
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => `${row[at]}`.length)),
  );
  const width = widths.reduce((sum, one) => sum + one + 3, -3);
  assert.ok(width <= 100, `${width} columns`);
});

/** What kubectl get prints without -o wide, by the table of the API server. */
function shownByKubectl({ cluster }: TestCluster, plural: string): readonly string[][] {
  let text = '';
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const path = `/apis/taintmgr.dev/v1alpha1/${plural}`;
  cluster.exchange(
    { method: 'GET', path, headers: { authorization: 'Bearer admin', accept }, body: null },
    { head: () => {}, data: (chunk) => (text += String(chunk)), end: () => {}, reset: () => {} },
  );
  const { columnDefinitions, rows } = JSON.parse(text);
  const shown = (columnDefinitions as { name: string; priority: number }[]).map(
    ({ priority }) => priority === 0,
  );
  const heads = (columnDefinitions as { name: string }[]).map(({ name }) => name.toUpperCase());
  const cells = (rows as { cells: unknown[] }[]).map((row) => row.cells.map(String));
  return [heads, ...cells].map((row) => row.filter((_, at) => shown[at]));
}
