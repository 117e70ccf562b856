// NodeDrains by the plugin, carried out by the controller: two programs and the real kubectl.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { execute, withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import {
  type Result,
  run,
  start as startPlugin,
} from '@taintmgr/kubectl-taintmgr/test/world/run.ts';
import { deployment, pdb, statefulSet, type Topology } from '@taintmgr/sim-cluster';
import { startCluster, startController, until, type WatchedCluster } from './programs.ts';

const taint = 'maintenance=kernel';

const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 4,
  workloads: [
    deployment('shop', 'web', { replicas: 6 }),
    statefulSet('shop', 'db', { replicas: 2 }),
  ],
  budgets: [],
};

/** `db` cannot be evicted. */
const blocked: Topology = { ...topology, budgets: [pdb('shop', 'db', { minAvailable: 2 })] };

async function world(t: TestContext, given: Topology): Promise<WatchedCluster> {
  const watched = await startCluster(t, given);
  process.env.KUBECONFIG = watched.kubeconfig;
  return watched;
}

const plugin = (line: string): Promise<Result> => run(...line.split(' '));

/** What drains have set on a node: the cordon, taints, and how many marks. */
function setOn({ cluster }: WatchedCluster, name: string): readonly unknown[] {
  const { spec, metadata } = cluster.api.get('nodes', '', name) ?? assert.fail();
  const taints = (spec.taints ?? []).flatMap(({ key }: { readonly key: string }) =>
    key.startsWith('node.kubernetes.io/') ? [] : key,
  );
  const marks = JSON.parse(metadata.annotations?.['taintmgr.dev/drain'] ?? '[]');
  return [spec.unschedulable === true, taints.join(' '), marks.length];
}

function nodeOf({ cluster }: WatchedCluster, pod: string): string {
  return cluster.api.get('pods', 'shop', pod)?.spec.nodeName ?? assert.fail();
}

describe('drain-by-taint --server-side', () => {
  it('creates a NodeDrain and follows it; kubectl waits for it; undo deletes it', {
    skip: withoutKubectl,
  }, async (t) => {
    const watched = await world(t, topology);
    const controller = await startController(t, watched);
    const { code, out, err } = await plugin(
      `drain-by-taint ${taint} a-1 a-2 --server-side --name kernel`,
    );
    assert.equal(code, 0, `${out}${err}\n${controller.out()}`);
    const steady = out.replace(/\(\d+ pods?(, \d+s)?\)/g, '(pods)').replace(/, \d+s\)/, ')');
    assert.deepEqual(steady.split('\n'), [
      'nodedrain.taintmgr.dev/kernel created',
      ...['node/a-1 tainted', 'node/a-1 drained (pods)'],
      ...['node/a-2 tainted', 'node/a-2 drained (pods)'],
      'nodedrain.taintmgr.dev/kernel drained (2 nodes, 4 pods)',
      '',
    ]);
    assert.equal(err, 'hint: to undo: kubectl taintmgr undo kernel\n');
    const wait = ['wait', '--for=condition=Drained', 'nodedrain/kernel', '--timeout=150s'];
    const waited = await execute('kubectl', wait);
    assert.equal(waited.out, 'nodedrain.taintmgr.dev/kernel condition met\n', waited.err);
    assert.ok(watched.isDrained('a-1') && watched.isDrained('a-2'));
    assert.deepEqual(setOn(watched, 'a-1'), [true, 'maintenance', 1]);
    const { out: status } = await plugin('status');
    assert.match(status, /^kernel +Drained +2 of 2 +4 of 4 +0 +<none> +<none>$/m);
    const second = await plugin(`drain-by-taint ${taint}:NoSchedule a-2 a-3`);
    assert.match(second.err, /NodeDrain kernel has put maintenance=kernel:NoSchedule on a-2: undo/);
    const dry = await plugin('undo kernel --dry-run=client');
    assert.match(dry.out, /^nodedrain.taintmgr.dev\/kernel deleted \(dry run\)\nnode\/a-1 uncord/);
    const part = await plugin('undo kernel a-1');
    assert.match(part.err, /drain kernel is a NodeDrain, which is undone as a whole/);
    const undone = await plugin('undo kernel');
    assert.deepEqual(undone.out.split('\n'), [
      'nodedrain.taintmgr.dev/kernel deleted',
      ...['node/a-1 uncordoned', 'node/a-1 untainted', 'node/a-2 uncordoned', 'node/a-2 untainted'],
      '',
    ]);
    assert.deepEqual([undone.code, undone.err], [0, '']);
    assert.deepEqual(setOn(watched, 'a-1'), [false, '', 0]);
    assert.equal(watched.cluster.api.list('nodedrains.taintmgr.dev').length, 0);
  });

  it('goes on after Ctrl-C, says what blocks it, and ends when the budget frees up', async (t) => {
    const watched = await world(t, blocked);
    await startController(t, watched);
    const node = nodeOf(watched, 'db-0');
    const line = `drain-by-taint ${taint} ${node} --server-side --name kernel`;
    const following = startPlugin(line.split(' '));
    const { output } = following;
    await until('the blocker to be named', () => /is blocked: The disr/.test(output.errText));
    following.interrupt();
    const { code, err } = await following.result;
    assert.equal(code, 130);
    assert.match(
      err,
      /^interrupted; nodedrain.taintmgr.dev\/kernel continues\nhint: to follow: kub/m,
    );
    // The other pod of the node goes first.
    const { api } = watched.cluster;
    const phase = (): unknown => api.get('nodedrains.taintmgr.dev', '', 'kernel')?.status?.phase;
    await until('nothing to go on but that', () => phase() === 'Blocked');
    const status = await plugin('status');
    assert.match(status.out, /^kernel +Blocked +0 of 1 .*pod shop\/db-\d: The disruption budget/m);
    const explained = await plugin(`explain node ${node}`);
    assert.match(explained.out, /^Evicted by: +NodeDrain kernel$/m);
    const budget = api.get('poddisruptionbudgets', 'shop', 'db') ?? assert.fail();
    api.update('poddisruptionbudgets', { ...budget, spec: { ...budget.spec, minAvailable: 1 } });
    await until('the drain to end', () => watched.isDrained(node));
    assert.equal((await plugin('undo nodedrain/kernel')).code, 0);
  });

  it('--detach leaves at once', async (t) => {
    const watched = await world(t, blocked);
    await startController(t, watched);
    const node = nodeOf(watched, 'db-0');
    const line = `drain-by-taint ${taint} ${node} --server-side --detach --name kernel -o name`;
    const { code, out, err } = await plugin(line);
    assert.deepEqual([code, out], [0, 'nodedrain.taintmgr.dev/kernel\n']);
    const wait = `kubectl wait --for=jsonpath='{.status.endedAt}' nodedrain/kernel --timeout=1h`;
    assert.ok(err.split('\n').includes(`hint: to wait for its end: ${wait}`), err);
    assert.deepEqual((await plugin('undo kernel')).code, 0);
    assert.deepEqual(setOn(watched, node), [false, '', 0]);
  });

  it('says at once when no controller would carry it out; undo needs no controller', async (t) => {
    const watched = await world(t, topology);
    const { api } = watched.cluster;
    const line = `drain-by-taint ${taint} a-1 --server-side --name kernel`;
    const refused = async (): Promise<string> => {
      const { code, out, err } = await plugin(line);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /; nothing was changed\n$/);
      assert.equal(api.list('nodedrains.taintmgr.dev').length, 0);
      return err;
    };
    assert.match(
      await refused(),
      /taintmgr-controller has published no heartbeat, so no controller would/,
    );
    const controller = await startController(t, watched, 'taint-eviction-controller');
    assert.match(await refused(), /runs without node-drain-controller.*components\/node-drains/);
    controller.child.kill('SIGTERM');
    await controller.ended;
    const drains = await startController(t, watched);
    assert.equal((await plugin(line)).code, 0);
    drains.child.kill('SIGTERM');
    await drains.ended;
    const undone = await plugin('undo kernel');
    assert.match(
      undone.err,
      /^Warning: the last heartbeat of .* old: the drain is undone from here$/m,
    );
    assert.match(undone.out, /deleted\nnode\/a-1 uncordoned\nnode\/a-1 untainted\n$/);
    assert.equal(api.list('nodedrains.taintmgr.dev').length, 0);
    await startController(t, watched);
    api.delete('customresourcedefinitions', '', 'nodedrains.taintmgr.dev');
    await until('the kind to be gone', () => {
      return api
        .list('customresourcedefinitions')
        .every(({ spec }) => spec.names.kind !== 'NodeDrain');
    });
    const { err } = await plugin(line);
    assert.match(
      err,
      /does not know the kind NodeDrain; install it with: kubectl taintmgr install/,
    );
  });
});
