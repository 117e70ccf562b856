// Which nodes a NodeDrain is for, in which order they come, and how each ends.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeDrain } from '@taintmgr/core/policy';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const pool = { nodeSelector: { matchLabels: { pool: 'blue' } } };
const blocked = {
  kind: 'blocked',
  message: 'The disruption budget web needs 1 healthy pods and has 1 currently',
  retryAfter: null,
} as const;

/** Runs it for two minutes. */
function run(drain: NodeDrain, names: readonly string[]): SharedCluster {
  const cluster = new SharedCluster([drain], names);
  cluster.pass(120_000);
  return cluster;
}

describe('the nodes of a NodeDrain', () => {
  it('that a selector finds are those of its start', () => {
    const cluster = run(drainOf(pool), ['blue@n1', 'n2']);
    cluster.addNode('blue@n3');
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained');
    cluster.restart();
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained');
  });

  it('that come to match later are drained too where that is wanted', () => {
    const cluster = run(drainOf({ ...pool, laterNodes: 'Drain' }), ['blue@n1', 'n2']);
    cluster.addNode('blue@n3');
    cluster.change('n2', { labels: { pool: 'blue' } });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n3 Drained, n2 Drained');
    assert.equal(cluster.state().podsGone, 3);
  });

  it('are waited for while there are none: it is not drained', () => {
    const cluster = run(drainOf(pool), ['n1']);
    const { phase, blockers } = cluster.state();
    assert.deepEqual([phase, blockers], ['Pending', ['no node matches its nodeSelector']]);
    cluster.addNode('blue@n2');
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n2 Drained');
  });

  it('that never were have failed, and hold up nobody', () => {
    const cluster = run(drainOf({ nodes: ['n0', 'n1'], order: 'ByZone' }), ['a/n1']);
    assert.equal(cluster.phases(), 'n0 Failed, n1 Drained');
    const { phase, nodes } = cluster.state();
    assert.deepEqual([phase, nodes[0]?.reason], ['Failed', 'NotFound']);
  });

  it('come zone by zone, and none of a zone after one that failed', () => {
    const spec = { nodes: ['n1', 'n2', 'n3'], order: 'ByZone', timeouts: { node: '10s' } };
    const names = ['a/n1', 'b/n2', 'a/n3'];
    const good = run(drainOf(spec), names);
    const taints = good.done().filter((line) => line.startsWith('taint'));
    assert.deepEqual(taints, ['taint n1', 'taint n3', 'taint n2']);
    const bad = new SharedCluster([drainOf(spec)], names);
    bad.answers.set('evict on-n3', blocked);
    bad.pass(120_000);
    assert.equal(bad.phases(), 'n1 Drained, n2 Failed, n3 Failed');
    assert.ok(!bad.done().includes('taint n2'));
  });

  it('that fail are rolled back where that is wanted, and only those', () => {
    const spec = { nodes: ['n1', 'n2'], timeouts: { node: '10s' }, onFailure: 'RollBack' };
    const cluster = new SharedCluster([drainOf(spec)], ['n1', 'n2']);
    cluster.answers.set('evict on-n1', blocked);
    cluster.pass(120_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    assert.deepEqual(cluster.traces(), ['n2 cordon work mark of kernel']);
  });

  it('are rolled back by another leader where the first had no time for it', () => {
    const spec = { nodes: ['n1'], timeouts: { node: '10s' }, onFailure: 'RollBack' };
    const cluster = new SharedCluster([drainOf(spec)], ['n1']);
    cluster.answers.set('evict on-n1', blocked);
    const failed = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
    cluster.answers.set('undo n1', failed);
    cluster.pass(60_000);
    assert.deepEqual(cluster.traces(), ['n1 cordon work mark of kernel']);
    cluster.answers.delete('undo n1');
    cluster.restart();
    cluster.pass(1_000);
    assert.deepEqual(cluster.traces(), []);
    assert.equal(cluster.state().phase, 'Failed');
  });

  it('that are not done with when its time is over have failed', () => {
    const until = new Date(30_000).toISOString();
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'], until })], ['n1', 'n2']);
    cluster.answers.set('evict on-n1', blocked);
    cluster.pass(29_000);
    assert.equal(cluster.phases(), 'n1 Draining, n2 Pending');
    cluster.done();
    cluster.pass(60_000);
    assert.equal(cluster.state().phase, 'TimedOut');
    assert.deepEqual(cluster.done(), ['end n1', 'end n2']);
  });

  it('that are cordoned at the start are so before the first turn', () => {
    const spec = { nodes: ['n1', 'n2'], cordon: 'AtStart' };
    const cluster = run(drainOf(spec), ['n1', 'n2']);
    const [guard, ...rest] = cluster.done();
    assert.equal(guard, 'guard');
    assert.deepEqual(
      rest.filter((line) => line.startsWith('cordon')),
      ['cordon n1', 'cordon n2'],
    );
    // It says at once that it is done with a node, however soon that was.
    assert.deepEqual(
      rest.filter((line) => line.startsWith('end')),
      ['end n1', 'end n2'],
    );
  });

  it('that are deleted are not waited for, and have failed if they come back with their pods', () => {
    for (const others of [[], ['n2']]) {
      const names = ['n1', ...others];
      const cluster = new SharedCluster([drainOf({ nodes: names })], names);
      cluster.answers.set('evict on-n1', blocked);
      cluster.pass(4_000);
      const { drainMarks: _m, drains: _d, unschedulable: _u, ...bare } = cluster.node('n1');
      cluster.nodes.delete('n1');
      cluster.tell({ kind: 'nodeDelete', name: 'n1' });
      cluster.pass(4_000);
      assert.equal(cluster.state().phase, 'Drained');
      assert.ok(!cluster.log.includes('end n1'));
      cluster.nodes.set('n1', { ...bare, uid: 'another', createdAt: cluster.now, taints: [] });
      cluster.tell({ kind: 'nodeUpsert', node: cluster.node('n1') });
      cluster.pass(4_000);
      const { phase, nodes } = cluster.state();
      assert.deepEqual([phase, nodes[0]?.reason], ['Failed', 'TaintRemoved']);
    }
  });

  it('have no taint of it any more, drained or not, once somebody else evicts for that', () => {
    const names = ['n1', 'n2', 'n3'];
    const spec = { nodes: names, taint: { key: 'work', effect: 'NoExecute' } };
    const cluster = new SharedCluster([drainOf(spec)], names);
    cluster.answers.set('evict on-n2', blocked);
    cluster.pass(10_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Draining, n3 Pending');
    const manager = 'kube-controller-manager';
    cluster.addPod('web', 'n2', { disruption: { reason: 'DeletionByTaintManager', manager } });
    cluster.pass(10_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Failed, n3 Failed');
    assert.equal(cluster.state().nodes[1]?.reason, 'ForeignEviction');
    assert.deepEqual(
      cluster.traces(),
      ['n1', 'n2'].map((name) => `${name} cordon mark of kernel`),
    );
  });

  it('may have any name', () => {
    const cluster = run(drainOf({ nodes: ['guard'] }), ['guard']);
    assert.equal(cluster.phases(), 'guard Drained');
    cluster.remove();
    cluster.pass(10_000);
    assert.deepEqual([cluster.traces(), cluster.drains.size], [[], 0]);
  });
});

const upgrade = {
  name: 'upgrade',
  object: { apiVersion: 'v1', kind: 'Node', name: '{node}', condition: { type: 'Upgraded' } },
};

describe('a node whose pods are not read', () => {
  it('waits until they are', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.tell({ kind: 'podViews', others: 'watched', nodes: { n1: 'unread' } });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Held, n2 Drained');
    assert.deepEqual(cluster.state().blockers, ['node n1: its pods are not read yet']);
    cluster.tell({ kind: 'podViews', others: 'watched', nodes: {} });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});

describe('a node that has begun, and whose pods the next leader reads late', () => {
  for (const [what, spec] of [
    ['is not drained before', {}],
    ['asks for no step after it before', { afterNode: [upgrade] }],
  ] as const) {
    it(what, () => {
      const pods = ['a', 'b'].map((name) => ({ name, nodeName: 'n1', boundAt: 0 }));
      const world = new World(drainOf({ nodes: ['n1'], ...spec }), [{ name: 'n1' }], pods);
      const asked: string[] = [];
      world.answers = ({ kind }) => {
        asked.push(kind);
        return { kind: 'changed', message: 'not yet' };
      };
      world.refuses.add('b');
      world.pass(5_000);
      const node = () => {
        const [{ phase, reason, podsGone, podsLeft } = assert.fail()] = world.state().nodes;
        return [phase, reason, podsGone, podsLeft];
      };
      assert.deepEqual(node(), ['Draining', '', 1, 1]);
      world.readsPodsLate = true;
      world.failOver();
      world.pass(400);
      assert.deepEqual([...node(), ...asked], ['Draining', 'PodsNotRead', 1, 1]);
      world.pass(60_000);
      assert.deepEqual([...node(), ...asked], ['Draining', '', 1, 1]);
      world.refuses.clear();
      world.pass(60_000);
      assert.deepEqual(node().slice(2), [2, 0]);
    });
  }
});

describe('the counts of a NodeDrain', () => {
  it('go on over a restart', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('evict on-n2', blocked);
    cluster.pass(10_000);
    assert.deepEqual([cluster.state().podsGone, cluster.state().podsLeft], [1, 1]);
    cluster.restart();
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.deepEqual([cluster.state().podsGone, cluster.state().podsLeft], [2, 0]);
  });
});

describe('the counts of a NodeDrain that reads its own status', () => {
  it('count each pod once', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('evict on-n2', blocked);
    for (let i = 0; i < 3; i++) {
      cluster.pass(10_000);
      const { nodes: known, startedAt } = cluster.state();
      cluster.declare({ ...cluster.drain(), known, startedAt, observedGeneration: 1 });
      assert.deepEqual([cluster.state().podsGone, cluster.state().podsLeft], [1, 1]);
    }
  });
});

describe('two NodeDrains', () => {
  const other = { name: 'disk', uid: 'u2', created: 5_000 };
  const first = { created: 1_000 };
  const disk = (spec: object = {}): NodeDrain =>
    drainOf({ nodes: ['n1'], taint: { key: 'disk' }, ...spec }, other);

  it('of one node: the older one first, then the other, and each takes back its own', () => {
    const drains = [disk(), drainOf({ nodes: ['n1'] }, first)];
    const cluster = new SharedCluster(drains, ['n1']);
    cluster.answers.set('evict on-n1', blocked);
    cluster.pass(4_000);
    assert.equal(cluster.phases('disk'), 'n1 Held');
    assert.match(cluster.state('disk').blockers[0] ?? '', /drain kernel is at work there/);
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.deepEqual(cluster.traces(), ['n1 cordon work disk mark of kernel mark of disk']);
    cluster.remove('kernel');
    cluster.pass(10_000);
    assert.deepEqual(cluster.traces(), ['n1 cordon disk mark of disk']);
    cluster.remove('disk');
    cluster.pass(10_000);
    assert.deepEqual(cluster.traces(), []);
  });

  it('of one node: the other waits until the first shows there that it has ended', () => {
    const drains = [disk(), drainOf({ nodes: ['n1'] }, first)];
    const cluster = new SharedCluster(drains, ['n1']);
    const failed = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
    cluster.answers.set('end n1', failed);
    cluster.pass(5_000);
    assert.equal(cluster.phases('kernel'), 'n1 Drained');
    assert.equal(cluster.phases('disk'), 'n1 Held');
    assert.deepEqual(cluster.traces(), ['n1 cordon work mark of kernel']);
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.equal(cluster.phases('disk'), 'n1 Drained');
  });

  it('by one taint: the second waits until the first is undone', () => {
    const second = disk({ taint: { key: 'work' }, cordon: 'AtStart' });
    const drains = [drainOf({ nodes: ['n1'], cordon: 'Never' }, first), second];
    const cluster = new SharedCluster(drains, ['n1']);
    cluster.pass(60_000);
    // A cordon of the second would be written down as one of the first.
    assert.deepEqual(cluster.traces(), ['n1 work mark of kernel']);
    assert.equal(cluster.phases('kernel'), 'n1 Drained');
    assert.equal(cluster.phases('disk'), 'n1 Held');
    assert.match(
      cluster.state('disk').blockers[0] ?? '',
      /drain kernel has put work:NoSchedule on/,
    );
    cluster.remove('kernel');
    cluster.pass(60_000);
    assert.equal(cluster.phases('disk'), 'n1 Drained');
    assert.deepEqual(cluster.traces(), ['n1 cordon work mark of disk']);
  });

  it('of one node: the other does not wait for one that is being undone, and has not begun there', () => {
    const drains = [disk({ nodes: ['n2'] }), drainOf({ nodes: ['n1', 'n2'] }, first)];
    const cluster = new SharedCluster(drains, ['n1', 'n2']);
    cluster.answers.set('evict on-n1', blocked);
    cluster.answers.set('undo n1', {
      kind: 'failed',
      status: 500,
      message: 'no',
      retryAfter: null,
    });
    cluster.pass(4_000);
    assert.equal(cluster.phases('disk'), 'n2 Held');
    cluster.remove('kernel');
    cluster.pass(10_000);
    assert.equal(cluster.state('kernel').phase, 'Undoing');
    assert.equal(cluster.phases('disk'), 'n2 Drained');
  });

  it('beside a drain of the plugin: its nodes wait until that is not heard of any more', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    const theirs = { id: 'drain-1', taint: 'disk:NoSchedule', by: 'alice' };
    cluster.change('n1', { drains: [{ ...theirs, heartbeat: '1' }], drainMarks: [theirs] });
    cluster.pass(10_000);
    assert.equal(cluster.phases(), 'n1 Held, n2 Drained');
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});
