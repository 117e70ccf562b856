// A rolling drain by real processes over HTTPS: leaders are killed, the API server is away, budgets block.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { deployment, type KubeObject, pdb, type Topology } from '@taintmgr/sim-cluster';
import {
  type Program,
  servesNobody,
  start,
  startCluster,
  until,
  type WatchedCluster,
} from './programs.ts';

const drains = 'nodedrains.taintmgr.dev';
const election = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
];

const topology: Topology = {
  region: 'r',
  zones: ['a', 'b', 'c', 'spare'],
  nodesPerZone: 2,
  workloads: [
    deployment('shop', 'web', { replicas: 12 }),
    deployment('shop', 'api', { replicas: 4 }),
  ],
  // Nobody of `api` may go, until somebody relaxes it.
  budgets: [pdb('shop', 'web', { maxUnavailable: 2 }), pdb('shop', 'api', { minAvailable: 4 })],
};
const nodes = ['a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'c-2'];

function startController(t: TestContext, { kubeconfig }: WatchedCluster): Program {
  const flags = ['--mode=evict', '--controllers=node-drain-controller', ...election, servesNobody];
  return start(t, 'controller', kubeconfig, ...flags);
}

function statusOf({ cluster }: WatchedCluster): KubeObject['status'] {
  return cluster.api.get(drains, '', 'kernel')?.status ?? {};
}

/** Of no workload fewer pods are ready than its budget wants. */
function brokenBudgets({ cluster: { api } }: WatchedCluster): readonly string[] {
  const pods = api.list('pods');
  const wanted: Readonly<Record<string, number>> = { web: 12, api: 4 };
  return api.list('poddisruptionbudgets').flatMap(({ metadata: { name }, spec }) => {
    const ready = pods.filter(({ metadata, status }) => {
      const conditions: readonly { readonly type: string; readonly status: string }[] =
        status?.conditions ?? [];
      const isReady = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
      return metadata.labels?.app === name && !metadata.deletionTimestamp && isReady;
    }).length;
    const least = spec.minAvailable ?? (wanted[name] ?? 0) - spec.maxUnavailable;
    return ready < least ? [`${name}: ${ready} of ${least}`] : [];
  });
}

/** Nodes that are said to be drained and have pods. */
function untrue(watched: WatchedCluster): readonly string[] {
  const states: readonly { readonly name: string; readonly phase: string }[] =
    statusOf(watched).nodeStates ?? [];
  return states.flatMap(({ name, phase }) =>
    phase === 'Drained' && !watched.isDrained(name) ? [name] : [],
  );
}

describe('a rolling drain by processes', () => {
  it('ends, though leaders are killed, the API server is away and a budget blocks', async (t) => {
    const watched = await startCluster(t, topology);
    const { api } = watched.cluster;
    const first = startController(t, watched);
    const isLed = (): boolean => api.get('leases', 'kube-system', 'taintmgr-controller') !== null;
    await until('a leader', isLed, first.out);
    const second = startController(t, watched);
    const spec = { nodes, taint: { key: 'maintenance' }, order: 'ByZone' };
    const made = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain', spec };
    api.create(drains, { ...made, metadata: { name: 'kernel' } });
    const faults: string[] = [];
    const observer = setInterval(
      () => faults.push(...brokenBudgets(watched), ...untrue(watched)),
      250,
    );
    t.after(() => clearInterval(observer));
    const all = (): string =>
      `${JSON.stringify(statusOf(watched))}\n${first.out()}\n${second.out()}`;
    await until('the first pod to go', () => statusOf(watched).podsGone > 0, all);
    first.child.kill('SIGKILL');
    await until('the second to go on', () => second.out().includes('a drain'), all);
    // Not before: it would stand for election, too.
    const third = startController(t, watched);
    api.faults.down = true;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    api.faults.down = false;
    const budget = api.get('poddisruptionbudgets', 'shop', 'api') ?? assert.fail();
    const { minAvailable: _, ...others } = budget.spec;
    api.update('poddisruptionbudgets', { ...budget, spec: { ...others, maxUnavailable: 1 } });
    await until('a zone to be drained', () => statusOf(watched).nodesDrained >= 2, all);
    second.child.kill('SIGTERM');
    const ended = (): string => `${all()}\n${third.out()}`;
    await until('the drain to end', () => statusOf(watched).phase === 'Drained', ended);
    assert.deepEqual([...new Set(faults)], []);
    for (const name of nodes) assert.ok(watched.isDrained(name), name);
    api.delete(drains, '', 'kernel');
    await until('it to be undone', () => api.get(drains, '', 'kernel') === null, ended);
    for (const { metadata, spec: node } of api.list('nodes')) {
      const keys = (node.taints ?? []).map(({ key }: { readonly key: string }) => key);
      const { annotations = {} } = metadata;
      const left = [node.unschedulable ?? false, keys, annotations['taintmgr.dev/drain'] ?? ''];
      assert.deepEqual(left, [false, [], ''], metadata.name);
    }
  });
});
