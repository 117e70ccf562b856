// Two programs, one node: a drain beside a controller that evicts, judged by what the API was asked.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { daemonSet, deployment, pdb, type Topology, toleration } from '@taintmgr/sim-cluster';
import {
  type Program,
  servesNobody,
  start,
  startCluster,
  until,
  type WatchedCluster,
} from './programs.ts';

const taint = 'maintenance=kernel:NoExecute';

const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 3,
  workloads: [
    deployment('shop', 'web', { replicas: 6 }),
    deployment('shop', 'api', { replicas: 3 }),
    deployment('shop', 'db', {
      replicas: 3,
      tolerations: [toleration('maintenance:NoExecute', 3)],
    }),
    daemonSet('infra', 'agent', { tolerations: [{ operator: 'Exists' }] }),
  ],
  budgets: [pdb('shop', 'api', { maxUnavailable: 1 })],
};

async function startController(
  t: TestContext,
  { kubeconfig, cluster }: WatchedCluster,
  mode: string,
): Promise<Program> {
  const flags = [`--mode=${mode}`, '--controllers=taint-eviction-controller', '-v=4', servesNobody];
  const controller = start(t, 'controller', kubeconfig, ...flags);
  const isPublished = (): boolean =>
    cluster.api.list('taintmanagers.taintmgr.dev').some(({ status }) => status?.features);
  await until('the controller to publish what it heeds', isPublished, controller.out);
  return controller;
}

/** While a drain is at work, everyone who is asked says that its pods are left to it. */
async function isSaidEverywhere(
  t: TestContext,
  { kubeconfig }: WatchedCluster,
  node: string,
  pod: string,
): Promise<void> {
  const said = async (...words: readonly string[]): Promise<string> => {
    const program = start(t, 'plugin', kubeconfig, ...words);
    await program.ended;
    return program.out();
  };
  const drain = 'drain-\\d+-\\d+-\\w+';
  const note = new RegExp(
    `^Note: drain ${drain} by \\S+ evicts the pods of ${node} \\(heartbeat \\d+s ago\\): taintmgr-controller leaves them to it$`,
    'm',
  );
  for (const words of [`explain node ${node}`, `explain pod ${pod} -n shop`]) {
    const text = await said(...words.split(' '));
    assert.match(text, note);
    assert.match(text, /^Evicted by: +drain-by-taint\b/m);
  }
  const pending = await said('pending', '-A', '-o', 'wide');
  assert.match(pending, note);
  assert.match(pending, new RegExp(`^shop +${pod} .*drain-by-taint`, 'm'));
  const row = new RegExp(`^${drain} +${node} +\\S+ +\\d+s ago$`, 'm');
  assert.match(await said('status'), row);
}

function nodesOf({ cluster }: WatchedCluster): readonly string[] {
  return cluster.api.list('nodes').map(({ metadata }) => metadata.name);
}

/** What a drain that does not begin says. */
async function refused(
  t: TestContext,
  watched: WatchedCluster,
  ...flags: readonly string[]
): Promise<string> {
  const [node = ''] = nodesOf(watched);
  const drain = start(t, 'plugin', watched.kubeconfig, 'drain-by-taint', taint, node, ...flags);
  assert.equal(await drain.ended, 1, drain.out());
  assert.equal(watched.removals.size, 0);
  assert.equal(watched.cluster.api.get('nodes', '', node)?.spec.taints, undefined);
  return drain.out();
}

describe('a drain beside a controller', () => {
  it('works on the same node, and no pod is asked by both', async (t) => {
    const watched = await startCluster(t, topology);
    const controller = await startController(t, watched, 'evict');
    const [node = '', other = ''] = nodesOf(watched);
    const drain = start(t, 'plugin', watched.kubeconfig, 'drain-by-taint', taint, node);
    assert.equal(await drain.ended, 0, drain.out());
    assert.match(drain.out(), /^node\/\S+ drained/m);
    assert.ok(watched.isDrained(node, 'agent'));
    const askers = [...watched.removals.values()].map((agents) => [...new Set(agents)]);
    assert.ok(askers.length >= 4);
    for (const agents of askers) assert.deepEqual(agents, ['kubectl-taintmgr']);
    // A node that nobody drains is the controller's, as ever.
    const { api } = watched.cluster;
    const known = new Set(watched.removals.keys());
    const found = api.get('nodes', '', other);
    assert.ok(found);
    const spec = { ...found.spec, taints: [{ key: 'bad', effect: 'NoExecute' }] };
    api.update('nodes', { ...found, spec });
    await until('the controller to evict', () => watched.isDrained(other, 'agent'), controller.out);
    const later = [...watched.removals].filter(([uid]) => !known.has(uid));
    assert.ok(later.length > 0);
    for (const [, agents] of later) {
      assert.deepEqual([...new Set(agents)], ['taintmgr-controller']);
    }
  });

  it('is refused beside one that would delete what it leaves', async (t) => {
    const watched = await startCluster(t, topology);
    await startController(t, watched, 'delete');
    const out = await refused(t, watched);
    assert.match(out, /taintmgr-controller deletes the pods that the drain leaves/);
  });

  it('is refused beside one that would delete what it leaves by a policy', async (t) => {
    const watched = await startCluster(t, topology);
    await startController(t, watched, 'evict');
    const { api } = watched.cluster;
    const policy = { action: 'Delete', match: { taints: [{ key: 'maintenance' }] } };
    api.create('evictionpolicies.taintmgr.dev', {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPolicy',
      metadata: { name: 'at-once' },
      spec: policy,
    });
    for (const flags of [[], ['--ignore-policies']]) {
      assert.match(
        await refused(t, watched, ...flags),
        /deletes the pods that the drain leaves, .* as EvictionPolicy at-once says of pod \S+\/\S+; .*--allow-overlap/,
      );
    }
  });

  it('is the only one on its node, ends by Ctrl-C so that it can be continued, and may be killed', async (t) => {
    const budgets = [pdb('shop', 'api', { minAvailable: 3 })];
    const workloads = [deployment('shop', 'api', { replicas: 3 })];
    const watched = await startCluster(t, { ...topology, workloads, budgets });
    await startController(t, watched, 'evict');
    const [pod] = watched.cluster.api.list('pods');
    const node = pod?.spec.nodeName;
    const drain = (): Program =>
      start(t, 'plugin', watched.kubeconfig, 'drain-by-taint', taint, node);
    const first = drain();
    await first.saw(/^node\/\S+ tainted$/m);
    await isSaidEverywhere(t, watched, node, pod?.metadata.name ?? '');
    const second = drain();
    assert.equal(await second.ended, 1);
    assert.match(
      second.out(),
      /^error: drain drain-\S+ .*is at work on \S+ \(its mark is \d+s old\)/m,
    );
    first.child.kill('SIGINT');
    assert.equal(await first.ended, 130);
    assert.match(first.out(), /^hint: taintmgr-controller evicts what is left 1m from now/m);
    const third = drain();
    await third.saw(/^node\/\S+ already tainted$/m);
    third.child.kill('SIGKILL');
    await third.ended;
    const fourth = drain();
    assert.equal(await fourth.ended, 1);
    assert.match(fourth.out(), /if it was killed, until its mark is 1m old; nothing was changed/);
    for (const agents of watched.removals.values()) {
      assert.deepEqual([...new Set(agents)], ['kubectl-taintmgr']);
    }
  });
});
