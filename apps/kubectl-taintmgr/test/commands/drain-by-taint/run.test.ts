import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { daemonSet, type Rule, toleration } from '@taintmgr/sim-cluster';
import { type Result, run, start, steady } from '../../world/run.ts';
import { app, inZone, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

// A node is cordoned at the start of a drain and tainted at its turn: until then the DaemonSet
// controller, which heeds a NoExecute taint, leaves its pods there.

const taint = 'maintenance=kernel:NoExecute';
const tolerations = [toleration('maintenance:NoExecute', 60)];
const zones = ['turns', 'killed', 'undone', 'denied', 'sick'];

/** May do everything at first. */
const tainter: Rule[] = [
  { verbs: ['get', 'list', 'watch', 'create'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['patch'], apiGroups: [''], resources: ['nodes'] },
];

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster(
    {
      region: 'r',
      zones,
      nodesPerZone: 3,
      workloads: zones.flatMap((zone) => [
        app(zone, 'web', { replicas: 3 }),
        daemonSet(zone, 'agent', inZone(zone)),
      ]),
      budgets: [],
    },
    { tainter },
  );
  process.env.KUBECONFIG = cluster.kubeconfig;
});
after(() => cluster.stop());

const command = async (line: string): Promise<Result> => steady(await run(...line.split(' ')));

/** What happens to the nodes of a zone, and to the daemons on them: `tainted a-1`, `agent left a-1`. */
function listen(zone: string): { readonly log: string[]; readonly stop: () => void } {
  const log: string[] = [];
  const note = (text: string): void => {
    if (!log.includes(text)) log.push(text);
  };
  const stop = cluster.api.subscribe(({ resource, object: { metadata, spec } }) => {
    if (resource === 'nodes' && metadata.name.startsWith(`${zone}-`)) {
      if (spec.unschedulable) note(`cordoned ${metadata.name}`);
      const keys = (spec.taints ?? []).map(({ key }: { key: string }) => key);
      if (keys.includes('maintenance')) note(`tainted ${metadata.name}`);
    }
    const isDaemon = resource === 'pods' && metadata.labels?.app === 'agent';
    if (isDaemon && metadata.namespace === zone && metadata.deletionTimestamp) {
      note(`agent left ${spec.nodeName}`);
    }
  });
  return { log, stop };
}

/** The DaemonSet controller has brought back what an earlier drain took away. */
function hasDaemons(zone: string): boolean {
  const pods = cluster.api.list('pods').filter(({ metadata }) => metadata.namespace === zone);
  const daemons = pods.filter(({ metadata }) => metadata.labels?.app === 'agent');
  return daemons.length === 3 && daemons.every(({ metadata }) => !metadata.deletionTimestamp);
}

const marksOf = (name: string): readonly { tainted: boolean; cordoned: boolean }[] =>
  JSON.parse(
    cluster.api.get('nodes', '', name)?.metadata.annotations?.['taintmgr.dev/drain'] ?? '[]',
  );

describe('turns of a drain', () => {
  for (const flags of ['--zone-serial', '--max-parallel-nodes=1']) {
    it(`each node is tainted at its turn, and keeps its daemons until then: ${flags}`, async () => {
      await until('each node has its daemon', () => hasDaemons('turns'));
      const { log, stop } = listen('turns');
      const nodes = ['turns-1', 'turns-2', 'turns-3'];
      const { code, out, err } = await command(
        `drain-by-taint ${taint} --allow-overlap ${nodes.join(' ')} --ignore-daemonsets ${flags}`,
      );
      stop();
      assert.equal(code, 0, err);
      // The daemons leave meanwhile, each after its own node was tainted.
      const steps = log.filter((line) => !line.startsWith('agent'));
      assert.deepEqual(steps, [
        ...nodes.map((name) => `cordoned ${name}`),
        ...nodes.map((name) => `tainted ${name}`),
      ]);
      const lines = out.split('\n').filter((line) => /^node/.test(line));
      const turn = (name: string) => [`node/${name} tainted`, `node/${name} drained`];
      assert.deepEqual(
        lines.map((line) => line.replace(/ \(.*/, '')),
        [...nodes.map((name) => `node/${name} cordoned`), ...nodes.flatMap(turn)],
      );
      for (const name of nodes) {
        const [tainted, left] = [`tainted ${name}`, `agent left ${name}`].map((one) =>
          log.indexOf(one),
        );
        assert.ok(left === -1 || (tainted ?? 0) < (left ?? 0), log.join(', '));
      }
      assert.match(
        err,
        /^Warning: turns\/agent-\S+ on turns-1, .*: the DaemonSet controller deletes what does not tolerate maintenance=kernel:NoExecute, and ignores PodDisruptionBudgets$/m,
      );
      await command(`undo ${taint} ${nodes.join(' ')}`);
    });
  }

  it('a drain that was ended in the first turn goes on, and is undone, on all its nodes', async () => {
    const nodes = ['killed-1', 'killed-2', 'killed-3'];
    cluster.api.create('pods', {
      metadata: { name: 'slow', namespace: 'killed' },
      spec: { nodeName: 'killed-1', tolerations, containers: [{ name: 'c', image: 'x' }] },
    });
    const line = `drain-by-taint ${taint} --allow-overlap ${nodes.join(' ')} --ignore-daemonsets --force`;
    const { output, result, interrupt } = start(line.split(' '), true);
    await output.saw(/waiting for tolerations to expire/);
    interrupt();
    assert.equal((await result).code, 130);
    assert.deepEqual(
      nodes.map((name) => marksOf(name).map(({ tainted, cordoned }) => [tainted, cordoned])),
      [[[true, true]], [[false, true]], [[false, true]]],
    );
    const second = await command(`${line} --now`);
    assert.equal(second.code, 0, second.err);
    const changes = second.out.split('\n').filter((one) => /cordoned|tainted/.test(one));
    assert.deepEqual(changes, [
      ...nodes.map((name) => `node/${name} already cordoned`),
      'node/killed-1 already tainted',
      'node/killed-2 tainted',
      'node/killed-3 tainted',
    ]);
    const undone = await command(`undo ${taint} ${nodes.join(' ')}`);
    assert.equal(
      undone.out,
      nodes.map((name) => `node/${name} uncordoned\nnode/${name} untainted\n`).join(''),
    );
  });

  it('nodes that were cordoned and never tainted are undone', async () => {
    const nodes = ['undone-1', 'undone-2'];
    cluster.api.create('pods', {
      metadata: { name: 'slow', namespace: 'undone' },
      spec: { nodeName: 'undone-1', tolerations, containers: [{ name: 'c', image: 'x' }] },
    });
    const line = `drain-by-taint ${taint} --allow-overlap ${nodes.join(' ')} --ignore-daemonsets --force`;
    const { output, result, interrupt } = start(line.split(' '), true);
    await output.saw(/waiting for tolerations to expire/);
    interrupt();
    await result;
    const { out } = await command('undo');
    assert.match(out, /undone-1 .*cordon, taint\n/);
    assert.match(out, /undone-2 .*cordon\n/);
    const undone = await command(`undo ${taint} ${nodes.join(' ')}`);
    assert.equal(
      undone.out,
      'node/undone-1 uncordoned\nnode/undone-1 untainted\nnode/undone-2 uncordoned\n',
    );
    assert.deepEqual(new Scenario(cluster, 'undone').taints('undone-2'), []);
  });

  it('a write that fails is tried again', async () => {
    const { faults } = cluster.api;
    const target = { verbs: ['patch'], resource: 'nodes', name: 'sick-2' } as const;
    const { output, result } = start(
      `drain-by-taint ${taint} --allow-overlap sick-1 sick-2 --ignore-daemonsets`.split(' '),
    );
    await output.saw(/sick-2 cordoned/);
    faults.add({ fault: { kind: 'answer', code: 500 }, ...target, times: 2 });
    const { code, out, err } = await result;
    assert.equal(code, 0, err);
    assert.match(err, /^Warning: node sick-2 could not be tainted, retrying: /m);
    assert.match(out, /^node\/sick-2 drained /m);
  });

  it('a node that may not be tainted any more is named, with the reason', async () => {
    const { output, result } = start(
      `drain-by-taint ${taint} --allow-overlap denied-1 denied-2 --ignore-daemonsets --token=tainter`.split(
        ' ',
      ),
    );
    await output.saw(/denied-1 tainted/);
    tainter.pop();
    const { code, out, err } = await result;
    assert.equal(code, 1, err);
    assert.match(out, /^node\/denied-1 drained /m);
    assert.doesNotMatch(out, /denied-2 tainted/);
    assert.match(
      err,
      /^ {2}node denied-2: nodes "denied-2" is forbidden: User "tainter" cannot patch resource "nodes"/m,
    );
    assert.match(err, /^hint: to undo: kubectl taintmgr undo drain-/m);
  });
});
