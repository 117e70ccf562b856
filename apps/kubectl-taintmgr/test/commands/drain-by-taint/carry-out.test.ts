import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions, policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { type Clock, daemonSet, node, type Rule, toleration } from '@taintmgr/sim-cluster';
import { type Result, run, start, steady } from '../../world/run.ts';
import { app, inZone, Scenario } from '../../world/scenario.ts';
import { clockAhead, startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

// A drain that is undone while it runs, and what a drain takes back where one node refuses or is gone.
describe('a drain beside others, and where nodes refuse', () => {
  const taint = 'maintenance=kernel:NoSchedule';

  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  const command = async (line: string): Promise<Result> => steady(await run(...line.split(' ')));

  /** Nodes `zone-1` to `zone-3`, each with a pod of its name; those of the first ones stay for an hour. */
  function scene(zone: string, staying: number): readonly string[] {
    const nodes = [1, 2, 3].map((number) => `${zone}-${number}`);
    for (const [index, name] of nodes.entries()) {
      cluster.api.create('nodes', node(name));
      const tolerations = index < staying ? [toleration('maintenance:NoExecute', 3600)] : [];
      cluster.api.create('pods', {
        metadata: { name, namespace: 'default' },
        spec: { nodeName: name, tolerations, containers: [{ name: 'c', image: 'x' }] },
      });
    }
    return nodes;
  }

  /** Whether it is cordoned, its taint of drains, its marks, and whether its pod is there and not leaving. */
  function stateOf(name: string): readonly unknown[] {
    const { metadata, spec } = cluster.api.get('nodes', '', name) ?? assert.fail(name);
    const taints: readonly { key: string }[] = spec.taints ?? [];
    const pod = cluster.api.get('pods', 'default', name);
    return [
      spec.unschedulable === true,
      taints.some(({ key }) => key === 'maintenance'),
      JSON.parse(metadata.annotations?.['taintmgr.dev/drain'] ?? '[]').length,
      pod !== null && !pod.metadata.deletionTimestamp,
    ];
  }

  const untouched = [false, false, 0, true];

  describe('a drain that is undone while it runs', () => {
    it('stops on all its nodes, and undo says that it was at work', async () => {
      const nodes = scene('run', 1);
      const { output, result } = start(['drain-by-taint', taint, ...nodes, '--force'], true);
      await output.saw(/waiting for tolerations to expire/);
      const dry = await command(`undo ${taint} ${nodes.join(' ')} --dry-run=client`);
      assert.match(dry.err, /^Warning: drain <drain> .*at work on run-1 .*: it would stop there, /);
      const undone = await command(`undo ${taint} ${nodes.join(' ')}`);
      assert.equal(undone.code, 0);
      assert.match(
        undone.err,
        /^Warning: drain <drain> of \S+ is at work on run-1 \(its mark is \d+s old\): it stops there, and begins no node that is undone\n$/,
      );
      const { code, out, err } = steady(await result);
      assert.equal(code, 1, err);
      assert.doesNotMatch(out, /run-[23] tainted|evicted/);
      assert.match(err, /^ {2}node run-1: another program removed the taint$/m);
      for (const name of ['run-2', 'run-3'])
        assert.match(err, new RegExp(`^ {2}node ${name}: the drain was undone there$`, 'm'));
      assert.doesNotMatch(err, /hint: to undo/);
      assert.deepEqual(nodes.map(stateOf), [untouched, untouched, untouched]);
    });

    it('also where an earlier run had cordoned the nodes', async () => {
      const nodes = scene('again', 1);
      const line = ['drain-by-taint', taint, ...nodes, '--force'];
      const first = start(line, true);
      await first.output.saw(/waiting for tolerations to expire/);
      first.interrupt();
      await first.result;
      const second = start(line, true);
      await second.output.saw(/again-1 already tainted/);
      assert.equal((await command(`undo ${taint}`)).code, 0);
      const { code, err } = await second.result;
      assert.equal(code, 1);
      assert.doesNotMatch(err, /hint: to undo/);
      assert.deepEqual(nodes.map(stateOf), [untouched, untouched, untouched]);
    });
  });

  describe('the hint how to undo a drain', () => {
    it('is there for as long as one node has something of it', async () => {
      const nodes = scene('part', 2);
      const { output, result, interrupt } = start(
        ['drain-by-taint', taint, ...nodes, '--force', '--max-parallel-nodes=0'],
        true,
      );
      await output.saw(/waiting for tolerations to expire/);
      assert.equal((await command(`undo ${taint} ${nodes[0]}`)).code, 0);
      interrupt();
      assert.match(steady(await result).err, /^hint: to undo: kubectl taintmgr undo <drain>\n$/m);
      assert.equal((await command(`undo ${taint}`)).code, 0);
      assert.deepEqual(nodes.map(stateOf).slice(0, 2), [untouched, untouched]);
    });
  });

  describe('a drain that another run has taken over', () => {
    it('ends, and takes nothing back of what that one goes on with', async () => {
      const nodes = scene('over', 3);
      const how = ['--force', '--rollback-on-failure', '--max-parallel-nodes=0'];
      const { output, result } = start(['drain-by-taint', taint, ...nodes, ...how], true);
      await output.saw(/waiting for tolerations to expire/);
      const [name = '', failed = ''] = nodes;
      const { spec, ...other } = cluster.api.get('nodes', '', failed) ?? assert.fail(failed);
      cluster.api.update('nodes', { ...other, spec: { ...spec, taints: [] } });
      const { metadata, ...rest } = cluster.api.get('nodes', '', name) ?? assert.fail(name);
      const marks: readonly object[] = JSON.parse(
        metadata.annotations?.['taintmgr.dev/drain'] ?? '',
      );
      const heartbeat = new Date().toISOString();
      const others = marks.map((mark) => ({ ...mark, run: 'another', heartbeat }));
      const annotations = { ...metadata.annotations, 'taintmgr.dev/drain': JSON.stringify(others) };
      cluster.api.update('nodes', { ...rest, metadata: { ...metadata, annotations } });
      const { code, err } = steady(await result);
      assert.equal(code, 1, err);
      assert.match(err, /has taken it over/);
      assert.doesNotMatch(err, /hint: to undo/);
      assert.deepEqual(stateOf(name), [true, true, 1, true]);
      // It had failed before, and is for the other run to try again.
      assert.match(err, new RegExp(`^ {2}node ${failed}: another program removed the taint`, 'm'));
      assert.deepEqual(stateOf(failed), [true, false, 1, true]);
    });
  });

  describe('a node that refuses, or is gone', () => {
    /** Refuses writes of a node; the call ends that. */
    const refuse = (name: string, times = 100, code = 403): (() => void) => {
      const fault = { kind: 'deny', webhook: 'guard', code, message: 'not this one' } as const;
      return cluster.api.faults.add({ fault, verbs: ['patch'], resource: 'nodes', name, times });
    };
    /** Does something as soon as somebody has cordoned, or uncordoned, the node. */
    const when = (name: string, isCordoned: boolean, act: () => void): void => {
      const stop = cluster.api.subscribe(({ resource, object: { metadata, spec } }) => {
        if (resource !== 'nodes' || metadata.name !== name) return;
        if ((spec.unschedulable === true) !== isCordoned) return;
        stop();
        queueMicrotask(act);
      });
    };
    const remove = (name: string) => (): void => void cluster.api.delete('nodes', '', name);
    /** Of nodes whose pods all stay: it gives up on each. */
    const late = '--force --timeout=1s --max-parallel-nodes=0';

    it('keeps undo from no other node, and is named', async () => {
      const nodes = scene('undo', 3).join(' ');
      assert.equal((await command(`drain-by-taint ${taint} ${nodes} ${late}`)).code, 3);
      const allow = refuse('undo-1');
      when('undo-2', false, remove('undo-3'));
      const { code, out, err } = await command(`undo ${taint} ${nodes}`);
      allow();
      assert.deepEqual([code, out], [1, 'node/undo-2 uncordoned\nnode/undo-2 untainted\n']);
      assert.match(
        err,
        /^Warning: node undo-1 is not undone: .*\nWarning: node undo-3 was deleted: /,
      );
    });

    it('is not taken for one that is gone, whatever a webhook answers with', async () => {
      const nodes = scene('hook', 3).join(' ');
      assert.equal((await command(`drain-by-taint ${taint} ${nodes} ${late}`)).code, 3);
      const allow = refuse('hook-1', 100, 404);
      const { code, err } = await command(`undo ${taint} ${nodes}`);
      allow();
      assert.equal(code, 1);
      assert.match(err, /^Warning: node hook-1 is not undone: /);
      assert.deepEqual(['hook-2', 'hook-3'].map(stateOf), [untouched, untouched]);
    });

    it('keeps undo from nothing where it does not even say what time it is', async () => {
      const heartbeat = new Date(Date.now() - 5000).toISOString();
      const work = { id: 'd1', by: 'ann', run: 'r', heartbeat };
      const mark = { ...work, taint: 'clock=k:NoSchedule', tainted: true, cordoned: true };
      const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
      const spec = {
        unschedulable: true,
        taints: [{ key: 'clock', value: 'k', effect: 'NoSchedule' }],
      };
      for (const name of ['clock-1', 'clock-2']) {
        const { metadata, ...rest } = node(name);
        cluster.api.create('nodes', { ...rest, metadata: { ...metadata, annotations }, spec });
      }
      const fault = { kind: 'answer', code: 500 } as const;
      const asked = { verbs: ['get'], resource: 'nodes', name: 'clock-1', times: 1 } as const;
      cluster.api.faults.add({ fault, ...asked });
      const { code, err } = await command('undo clock=k');
      assert.equal(code, 0, err);
      for (const name of ['clock-1', 'clock-2'])
        assert.equal(stateOf(name)[2], 0, 'its mark is gone');
    });

    it('keeps a drain from rolling back no other node, and from saying how it ended', async () => {
      const nodes = scene('roll', 3).join(' ');
      const line = `drain-by-taint ${taint} ${nodes} ${late} --rollback-on-failure -o json`;
      const { output, result } = start(line.split(' '));
      await output.saw(/(node.roll-\d tainted\n){3}/);
      const allow = refuse('roll-1');
      const { code, out, err } = steady(await result);
      allow();
      assert.equal(code, 3);
      const { status } = JSON.parse(out);
      assert.deepEqual([status.result, status.id], ['TimedOut', '<drain>']);
      assert.match(err, /^Warning: node roll-1 is not undone: /m);
      assert.ok(err.endsWith('hint: to undo: kubectl taintmgr undo <drain>\n'), err);
      assert.deepEqual(['roll-2', 'roll-3'].map(stateOf), [untouched, untouched]);
    });

    it('is done with where it is deleted while the nodes are cordoned', async () => {
      const nodes = scene('gone', 3).join(' ');
      when('gone-1', true, remove('gone-2'));
      const line = `drain-by-taint ${taint} ${nodes} --force --pod-selector=app=none`;
      const { code, out, err } = await command(line);
      assert.equal(code, 0, err);
      assert.match(err, /^Warning: node gone-2 was deleted$/m);
      assert.match(out, /^node\/gone-1 drained .*\n(.*\n)*node\/gone-3 drained /m);
    });

    it('is cordoned at its turn where that failed before', async () => {
      const nodes = scene('turn', 3).join(' ');
      refuse('turn-2', 1);
      const line = `drain-by-taint ${taint} ${nodes} --force --pod-selector=app=none`;
      const { code, out, err } = await command(line);
      assert.equal(code, 0, err);
      assert.match(
        err,
        /^Warning: node turn-2 could not be cordoned, it is tried again at its turn: /m,
      );
      assert.match(out, /^node\/turn-3 cordoned\n(.*\n)*node\/turn-2 cordoned$/m);
      assert.equal((await command(`undo ${taint} ${nodes}`)).code, 0);
      assert.deepEqual(stateOf('turn-2'), untouched);
    });

    it('Ctrl-C while nodes are cordoned: how to undo that is said, with a roll-back too', async () => {
      const nodes = scene('stop', 3).join(' ');
      const line = `drain-by-taint ${taint} ${nodes} --force --rollback-on-failure`;
      const { interrupt, result } = start(line.split(' '));
      when('stop-1', true, interrupt);
      const { code, err } = steady(await result);
      assert.equal(code, 130, err);
      assert.match(
        err,
        /^error: interrupted, 0 of 3 nodes drained; 3 pods stay on stop-1, stop-2, stop-3; run the same command again to continue$/m,
      );
      assert.match(err, /^hint: to undo: kubectl taintmgr undo <drain>\n$/m);
      assert.deepEqual(stateOf('stop-1'), [true, false, 1, true]);
      assert.equal((await command(`undo ${taint} ${nodes}`)).code, 0);
    });
  });
});

// A node is cordoned at the start of a drain and tainted at its turn: until then the DaemonSet
// controller, which heeds a NoExecute taint, leaves its pods there.
describe('a drain from its cordons to its end', () => {
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
});

// The clock of a workstation is wrong. Deadlines of pods count from the taint's time, so that has to be
// the cluster's, or who tolerates it for 5 minutes goes at once; and so do heartbeats of controllers.
describe('a drain where the clock of the workstation is wrong', () => {
  const minute = 60_000;
  const managers = 'taintmanagers.taintmgr.dev';

  for (const [name, ahead] of [
    ['10 minutes ahead', 10 * minute],
    ['10 minutes behind', -10 * minute],
  ] as const) {
    describe(`a drain beside a clock of the cluster that is ${name}`, () => {
      let clock: Clock;
      let cluster: TestCluster;
      beforeEach(async () => {
        clock = clockAhead(ahead);
        cluster = await startTestCluster(null, {}, clock);
        process.env.KUBECONFIG = cluster.kubeconfig;
        cluster.api.create('nodes', node('n1'));
      });
      afterEach(() => cluster.stop());

      it('dates its taint by that', async () => {
        const before = Math.floor(clock.now() / 1000) * 1000;
        const args = ['drain-by-taint', 'maintenance=kernel:NoExecute', '--allow-overlap', 'n1'];
        const { code, err } = await run(...args);
        assert.equal(code, 0, err);
        const taints: readonly { key: string; timeAdded?: string }[] =
          cluster.api.get('nodes', '', 'n1')?.spec.taints ?? [];
        const { timeAdded = '' } = taints.find(({ key }) => key === 'maintenance') ?? {};
        const at = Date.parse(timeAdded);
        assert.ok(before <= at && at <= clock.now(), `at ${timeAdded}`);
      });

      for (const [is, age, fault] of [
        ['runs', 5_000, /^$/],
        [
          'ended 2 minutes ago',
          2 * minute,
          /the last heartbeat of taintmgr-controller is (1m\d+s|2m\S*) old/,
        ],
      ] as const) {
        it(`finds that a controller ${is}`, async () => {
          await installDefinitions(cluster.api, customResourceDefinitions());
          const renewTime = new Date(clock.now() - age).toISOString();
          const kind = { apiVersion: policyApiVersion, kind: 'TaintManager' };
          const made = cluster.api.create(managers, { ...kind, metadata: { name: 'm' } });
          const status = { leader: 'a', controllers: ['node-drain-controller'], renewTime };
          cluster.api.update(managers, { ...made, status }, 'status');
          const taint = 'maintenance=kernel:NoSchedule';
          const args = ['drain-by-taint', taint, 'n1', '--server-side', '--dry-run=server'];
          const { err } = await run(...args);
          assert.match(err, fault);
        });
      }
    });
  }
});

// Whoever controls a node may write anything into the mark of a drain there.
describe('marks that anybody has written', () => {
  const taint = 'maintenance=kernel:NoSchedule';
  const steering = /[^\P{Cc}\n]|\u202e/u;

  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  const command = (line: string): Promise<Result> => run(...line.split(' '));

  /** A node that a drain of this name has tainted; `work`: that it is at work there. */
  function markedNode(name: string, id: string, work: object): void {
    const mark = {
      id,
      by: 'ev\u001b]0;il\u0007\nl',
      taint,
      tainted: true,
      cordoned: true,
      ...work,
    };
    const { metadata, ...rest } = node(name);
    const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
    const taints = [{ key: 'maintenance', value: 'kernel', effect: 'NoSchedule' }];
    const spec = { unschedulable: true, taints };
    cluster.api.create('nodes', { ...rest, metadata: { ...metadata, annotations }, spec });
  }

  describe('a mark that steers a terminal', () => {
    it('is shown as escapes, on one line', async () => {
      const heartbeat = new Date().toISOString();
      markedNode('busy', 'd\u001b[2J\u202e', { run: 'r', heartbeat });
      for (const line of [
        `drain-by-taint ${taint} busy --dry-run=client`,
        `drain-by-taint ${taint} busy`,
        `undo ${taint} busy --dry-run=client`,
      ]) {
        const { err } = await command(line);
        assert.match(err, /drain d\^\[\[2J\\u202e of ev\^\[\]0;il\^G\^Jl is at work on busy/, line);
        assert.doesNotMatch(err, steering, line);
      }
    });

    it('is no command for a shell in the hint that names it', async () => {
      markedNode('idle', 'd\u001b[2J;reboot', {});
      const { code, err } = await command(`drain-by-taint ${taint} idle`);
      assert.equal(code, 0, err);
      assert.ok(err.endsWith("hint: to undo: kubectl taintmgr undo 'd^[[2J;reboot'\n"), err);
    });
  });
});
