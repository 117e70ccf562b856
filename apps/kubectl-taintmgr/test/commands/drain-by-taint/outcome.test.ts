import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DrainFailure, DrainNode } from '@taintmgr/core/drain';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { type KubeObject, node, pdb, toleration } from '@taintmgr/sim-cluster';
import {
  type DrainResult,
  exitCodes,
  isNotDrained,
  resultOf,
} from '../../../src/commands/drain-by-taint/outcome.ts';
import { run, start, steady } from '../../world/run.ts';
import { app, Scenario } from '../../world/scenario.ts';
import {
  showManager,
  startTestCluster,
  type TestCluster,
  until,
  versions,
} from '../../world/test-cluster.ts';
import { now } from '../../world/values.ts';

// What scripts go by: the result and the exit code of a drain whose nodes failed.

/** The worst first: where nodes failed for several reasons, the first of these counts. */
const endings: readonly (readonly [DrainFailure, DrainResult, number])[] = [
  ['ForeignEviction', 'Stopped', 1],
  ['Denied', 'Failed', 1],
  ['TaintRemoved', 'Failed', 1],
  ['AnotherDrain', 'Failed', 1],
  ['Blocked', 'Blocked', 2],
  ['PodsRefused', 'Blocked', 2],
  ['TimedOut', 'TimedOut', 3],
  ['StepTimedOut', 'TimedOut', 3],
  ['NotBegun', 'Blocked', 2],
];

function nodeWith(phase: DrainNode['phase']): DrainNode {
  const wave = { name: '', nodesAtOnceMax: null };
  return { name: 'n1', zone: '', wave, phase };
}

function failed(why: DrainFailure): DrainNode {
  return nodeWith({ kind: 'failed', why, at: now, message: null });
}

describe('the end of a drain', () => {
  for (const [index, [why, result, code]] of endings.entries()) {
    it(`${why}: ${result}, ${code}, before what is less bad`, () => {
      const nodes = endings.slice(index).map(([one]) => failed(one));
      const found = resultOf({ nodes: () => nodes.toReversed() });
      assert.deepEqual([found, exitCodes[found]], [result, code]);
      assert.equal(resultOf({ nodes: () => [failed(why)] }), result);
    });
  }

  it('is a success where every node is drained, or is no more', () => {
    const nodes = [
      nodeWith({ kind: 'drained', since: now, at: now }),
      nodeWith({ kind: 'vanished', at: now }),
    ];
    assert.deepEqual([resultOf({ nodes: () => nodes }), exitCodes.Drained], ['Drained', 0]);
    assert.deepEqual([...nodes, failed('TimedOut')].map(isNotDrained), [false, false, true]);
  });
});

// Drains beside somebody else who evicts: kube-controller-manager, with a leader election lease and
// without, and users who delete pods by hand.
describe('a drain beside others who evict', () => {
  const noExecute = 'maintenance=kernel:NoExecute';
  const slow = { tolerations: [toleration('maintenance:NoExecute', 60)] };

  /** Deletions that a budget did not allow at their time, as the history of the API has them. */
  function breaches({ api }: TestCluster, namespace: string): readonly string[] {
    const found: string[] = [];
    const isHealthy = ({ metadata, status }: KubeObject): boolean =>
      metadata.labels?.app === 'api' &&
      !metadata.deletionTimestamp &&
      status.conditions?.some(
        ({ type, status: held }: Condition) => type === 'Ready' && held === 'True',
      );
    api.subscribe(({ resource, object: { metadata }, previous }) => {
      if (resource !== 'pods' || metadata.namespace !== namespace) return;
      const isNew = metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp;
      if (!isNew || metadata.labels?.app !== 'api') return;
      const wanted = api.get('poddisruptionbudgets', namespace, 'api')?.spec.minAvailable;
      if (api.list('pods', namespace).filter(isHealthy).length < wanted) found.push(metadata.name);
    });
    return found;
  }

  interface Condition {
    readonly type: string;
    readonly status: string;
  }

  /** It has its lease, or has read all pods and follows them. */
  function acts({ api, answers }: TestCluster, byLease: boolean): boolean {
    const lease = api.get('leases', 'kube-system', 'kube-controller-manager');
    const isFollowed = answers.some((answer) =>
      /^GET [/]api[/]v1[/]pods\?\S*watch=.* 200$/.test(answer),
    );
    return isFollowed && byLease === (lease !== null);
  }

  for (const lease of [true, false]) {
    describe(`drain-by-taint beside kube-controller-manager ${lease ? 'with' : 'without'} a lease`, () => {
      let cluster: TestCluster;
      let manager: UpstreamManager;
      before(async () => {
        const zones = ['first', 'chosen', 'forced', 'refused'];
        cluster = await startTestCluster({
          region: 'r',
          zones,
          nodesPerZone: 2,
          workloads: zones.flatMap((zone) => [
            app(zone, 'web'),
            app(zone, 'api', { replicas: 2 }),
            app(zone, 'db', slow),
          ]),
          budgets: zones.map((zone) => pdb(zone, 'api', { minAvailable: 2 })),
        });
        process.env.KUBECONFIG = cluster.kubeconfig;
        const { access } = await loadKubeconfig({ kubeconfig: cluster.kubeconfig });
        manager = new UpstreamManager(access, { lease });
        manager.start();
        await until('kube-controller-manager to act', () => acts(cluster, lease));
      });
      after(async () => {
        await manager.stop();
        await cluster.stop();
      });

      it('by default breaks no budget: the effect is one for which no other controller evicts', async () => {
        const zone = new Scenario(cluster, 'chosen');
        const broken = breaches(cluster, 'chosen');
        const { code, out, err } = await run(
          'drain-by-taint',
          'maintenance=kernel',
          '-l',
          zone.selector,
          '--timeout=4s',
        );
        assert.equal(code, 2, err);
        const why = lease
          ? 'may evict for NoExecute taints here'
          : 'evicts for NoExecute taints here: it shows neither';
        assert.match(
          err,
          new RegExp(
            `^Taint: maintenance=kernel:NoSchedule; NoSchedule chosen, because .*${why}`,
            'm',
          ),
        );
        assert.match(out, /^pod\/web-\S+ evicted/m);
        assert.deepEqual([broken, zone.pods('api').length], [[], 2]);
        await run('undo', 'maintenance=kernel');
      });

      it('a NoExecute drain that is not forced is refused', async () => {
        const zone = new Scenario(cluster, 'refused');
        const unchanged = versions(cluster.api, zone.owns);
        const { code, err } = await run('drain-by-taint', noExecute, '-l', zone.selector);
        assert.equal(code, 1);
        assert.match(
          err,
          /^error: .*kube-controller-manager.*; use maintenance=kernel:NoSchedule, /,
        );
        assert.deepEqual(versions(cluster.api, zone.owns), unchanged);
      });

      it('a forced NoExecute drain stops at the first deletion that is not its own', async () => {
        const zone = new Scenario(cluster, 'forced');
        const { code, out, err } = steady(
          await run('drain-by-taint', noExecute, '-l', zone.selector, '--allow-overlap'),
        );
        assert.equal(code, 1, err);
        assert.match(
          err,
          /^Warning: kube-controller-manager deletes forced\/\S+ on forced-1 for a NoExecute taint \(DeletionByTaintManager\), without asking PDBs; the drain stops and removes its taint$/m,
        );
        assert.match(
          err,
          /^error: stopped because kube-controller-manager evicts for the taint and ignores PDBs, /m,
        );
        assert.match(
          err,
          /^hint: drain with maintenance=kernel:NoSchedule, for which no other controller evicts, or start kube-controller-manager with --controllers=\*,-taint-eviction-controller$/m,
        );
        assert.match(err, /^hint: to undo: /m);
        assert.match(out, /^node\/forced-1 tainted\n(?:.*\n)*node\/forced-1 untainted\n/m);
        assert.doesNotMatch(out, /evicted|drained|forced-2 tainted/);
        // The taint is gone before the time of db was over, and the second node never had it.
        assert.deepEqual(zone.taints('forced-1'), []);
        assert.deepEqual(zone.taints('forced-2'), []);
        const cordoned = ['forced-1', 'forced-2'].map(
          (name) => cluster.api.get('nodes', '', name)?.spec.unschedulable,
        );
        assert.deepEqual(cordoned, [true, true]);
        const undone = await run('undo', noExecute);
        assert.equal(undone.out, 'node/forced-1 uncordoned\nnode/forced-2 uncordoned\n');
      });

      it('says so in JSON', async () => {
        const zone = new Scenario(cluster, 'first');
        const args = ['-l', zone.selector, '--allow-overlap', '-o', 'json'];
        const { code, out } = await run('drain-by-taint', noExecute, ...args);
        assert.equal(code, 1);
        const { status } = JSON.parse(out);
        assert.equal(status.result, 'Stopped');
        assert.match(status.message, /^kube-controller-manager deletes first\//);
        const [first] = status.nodes;
        assert.deepEqual(
          [first.phase, first.reason, first.tainted],
          ['Failed', 'ForeignEviction', false],
        );
        const pods: readonly { state: string; deletedBy?: string }[] = first.pods;
        assert.ok(pods.some(({ deletedBy }) => deletedBy === 'kube-controller-manager'));
        await run('undo', noExecute);
      });
    });
  }

  describe('drain-by-taint beside a kube-controller-manager whose flags can be seen', () => {
    const cases: readonly (readonly [flags: readonly string[], effect: string, why: RegExp])[] = [
      [[], 'NoSchedule', /kube-controller-manager evicts for NoExecute taints here/],
      [
        ['--controllers=*,-taint-eviction-controller'],
        'NoExecute',
        /no other controller evicts for it here/,
      ],
    ];
    for (const [flags, effect, why] of cases) {
      it(`chooses ${effect} with ${flags.join(' ') || 'its defaults'}`, async (t) => {
        const cluster = await startTestCluster(null);
        const labels = { 'node-role.kubernetes.io/control-plane': '' };
        t.after(() => cluster.stop());
        process.env.KUBECONFIG = cluster.kubeconfig;
        cluster.api.create('nodes', node('control-plane', { labels }));
        cluster.api.create('nodes', node('n1'));
        // It is only seen: what it would do is not asked here.
        showManager(cluster.api, flags, 'control-plane');
        const { code, err } = await run('drain-by-taint', 'maintenance=kernel', 'n1');
        assert.equal(code, 0, err);
        const [, chosen, reason = ''] =
          /^Taint: maintenance=kernel:\w+; (\w+) chosen, because (.*)$/m.exec(err) ?? [];
        assert.equal(chosen, effect);
        assert.match(reason, why);
        const again = await run('drain-by-taint', 'maintenance=kernel', 'n1');
        assert.match(
          again.err,
          new RegExp(`^Taint: .*; ${effect} chosen, because an earlier run has set it$`, 'm'),
        );
      });
    }
  });

  describe('drain-by-taint beside users who delete pods', () => {
    let cluster: TestCluster;
    before(async () => {
      cluster = await startTestCluster({
        region: 'r',
        zones: ['byhand'],
        nodesPerZone: 2,
        workloads: [app('byhand', 'api'), app('byhand', 'web')],
        budgets: [pdb('byhand', 'api', { minAvailable: 1 })],
      });
      process.env.KUBECONFIG = cluster.kubeconfig;
    });
    after(() => cluster.stop());

    it('a pod that a budget holds and a user deletes is gone, not evicted', async () => {
      const zone = new Scenario(cluster, 'byhand');
      const { metadata, spec } = zone.pod('api');
      const { output, result } = start([
        'drain-by-taint',
        'maintenance=kernel:NoSchedule',
        spec.nodeName,
        '--pod-selector=app=api',
      ]);
      await output.saw(/^node\/\S+ tainted$/m);
      const before = cluster.answers.length;
      const isRefused = (answer: string): boolean => /[/]eviction\S* 429$/.test(answer);
      await until('the budget to refuse', () => cluster.answers.slice(before).some(isRefused));
      cluster.api.delete('pods', 'byhand', metadata.name);
      const { code, out } = steady(await result);
      assert.equal(code, 0);
      assert.match(
        out,
        new RegExp(
          `^pod/${metadata.name} gone \\(deleted by another program; byhand, ${spec.nodeName}\\)\n` +
            `node/${spec.nodeName} drained \\(1 pod, 1 of them deleted by other programs, \\d+s\\)\n$`,
          'm',
        ),
      );
      await until('api to run elsewhere', () => zone.runElsewhere('api', 1, spec.nodeName));
    });
  });
});
