// Which nodes a NodeDrain is for, in which order they come, and how each ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCondition, Outcome } from '@taintmgr/core';
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

// Which nodes the selector of a NodeDrain finds before it begins and later, and how many there may be.
const ready = { apiVersion: 'v1', kind: 'Node', name: 'n0', condition: { type: 'Ready' } };
const gates = [{ name: 'storage', object: ready }];
const closed: Outcome = { kind: 'changed', message: 'not ready' };
const byBudget = { kind: 'blocked', message: 'budget', retryAfter: null } as const;
const planned: NodeCondition = {
  ...{ type: 'MaintenancePlanned', status: 'True', reason: 'Upgrade', message: '' },
  ...{ heartbeatAt: null, transitionAt: null },
};

describe('a NodeDrain that has not begun', () => {
  const cases: readonly (readonly [
    what: string,
    spec: object,
    leave: (c: SharedCluster) => void,
  ])[] = [
    ['has lost its label', {}, (cluster) => cluster.change('n2', { labels: {} })],
    [
      'is not to be maintained any more',
      { maintenancePlanned: 'Require' },
      (cluster) => cluster.change('n2', { conditions: [] }),
    ],
    ['is deleted', {}, (cluster) => cluster.deleteNode('n2')],
  ];
  for (const [what, spec, leave] of cases) {
    it(`lets go of a node that ${what}, and takes it again when it is back`, () => {
      const cluster = new SharedCluster([drainOf({ ...pool, gates, ...spec })], []);
      // The question of a gate has no words in the log.
      cluster.answers.set('', closed);
      for (const name of ['n1', 'n2']) {
        cluster.addNode(`blue@${name}`);
        cluster.change(name, { conditions: [planned] });
      }
      cluster.pass(60_000);
      assert.equal(cluster.phases(), 'n1 Held, n2 Held');
      leave(cluster);
      cluster.pass(60_000);
      assert.equal(cluster.phases(), 'n1 Held');
      cluster.addNode('blue@n2');
      cluster.change('n2', { conditions: [planned] });
      cluster.pass(60_000);
      assert.equal(cluster.phases(), 'n1 Held, n2 Held');
      leave(cluster);
      cluster.answers.clear();
      cluster.pass(60_000);
      assert.equal(cluster.phases(), 'n1 Drained');
      assert.ok(!cluster.done().includes('taint n2'));
    });
  }

  it('gives back the cordon of a node that it lets go of', () => {
    const drain = drainOf({ ...pool, cordon: 'AtStart', heeds: { pauseLabel: 'keep' } });
    const cluster = new SharedCluster([drain], ['blue@n1', 'blue@n2']);
    for (const name of ['n1', 'n2']) cluster.change(name, { labels: { pool: 'blue', keep: '' } });
    cluster.pass(60_000);
    const mark = 'mark of kernel';
    assert.deepEqual(cluster.traces(), [`n1 cordon ${mark}`, `n2 cordon ${mark}`]);
    cluster.change('n2', { labels: {} });
    cluster.pass(60_000);
    assert.deepEqual(cluster.traces(), [`n1 cordon ${mark}`]);
  });

  it('cordons a node that comes back under its name anew', () => {
    const drain = drainOf({ ...pool, cordon: 'AtStart', heeds: { pauseLabel: 'keep' } });
    const cluster = new SharedCluster([drain], ['blue@n1', 'blue@n2']);
    for (const name of ['n1', 'n2']) cluster.change(name, { labels: { pool: 'blue', keep: '' } });
    cluster.pass(1_000);
    cluster.deleteNode('n2');
    cluster.addNode('blue@n2');
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Held, n2 Drained');
    const writes = cluster.done().filter((line) => /^(cordon|taint) n2/.test(line));
    assert.deepEqual(writes, ['cordon n2', 'cordon n2', 'taint n2']);
  });
});

describe('a node that leaves before the drain begins and comes back', () => {
  const waves = [
    { name: 'canary', nodeSelector: { matchLabels: { ring: 'canary' } }, nodesAtOnce: 1 },
  ];
  const labels = { pool: 'blue', ring: 'canary' };
  const cases: readonly (readonly [
    what: string,
    spec: object,
    leave: (c: SharedCluster) => void,
  ])[] = [
    ['has the turn of its name', {}, (cluster) => cluster.deleteNode('n1')],
    ['has the turn of its wave', { waves }, (cluster) => cluster.change('n1', { labels: {} })],
  ];
  for (const [what, spec, leave] of cases) {
    it(what, () => {
      const cluster = new SharedCluster([drainOf({ ...pool, gates, ...spec })], []);
      cluster.answers.set('', closed);
      for (const name of ['n1', 'n2', 'n3']) cluster.addNode(`blue@${name}`);
      cluster.change('n1', { labels });
      cluster.pass(60_000);
      leave(cluster);
      cluster.pass(60_000);
      cluster.addNode('blue@n1');
      cluster.change('n1', { labels });
      cluster.answers.clear();
      cluster.pass(60_000);
      const taints = cluster.done().filter((line) => line.startsWith('taint'));
      assert.deepEqual(taints, ['taint n1', 'taint n2', 'taint n3']);
    });
  }
});

describe('a node that comes back under its name', () => {
  const steps = [{ name: 'backup', object: { ...ready, name: '{node}' } }];
  const cases: readonly (readonly [what: string, laterNodes: string, restarts: boolean])[] = [
    ['is drained like any later one', 'Drain', false],
    ['is drained like any later one by the next leader', 'Drain', true],
    ['is left alone', 'Leave', false],
    ['is left alone by the next leader', 'Leave', true],
  ];
  for (const [what, laterNodes, restarts] of cases) {
    for (const wasDrained of [true, false]) {
      it(`${what}; the old one ${wasDrained ? 'was drained' : 'was being drained'}`, () => {
        const drain = drainOf({ ...pool, laterNodes, beforeNode: steps });
        const cluster = new SharedCluster([drain], ['blue@n1', 'blue@n2']);
        if (!wasDrained) cluster.answers.set('evict on-n1', byBudget);
        cluster.pass(60_000);
        cluster.answers.clear();
        cluster.done();
        const again = (): void => {
          cluster.deleteNode('n1');
          cluster.addNode('blue@n1');
        };
        if (restarts) cluster.restart(again);
        else again();
        cluster.pass(60_000);
        const done = cluster.done();
        for (const step of ['taint n1', 'evict on-n1'])
          assert.equal(done.includes(step), laterNodes === 'Drain', step);
        if (laterNodes === 'Leave' && !wasDrained)
          assert.equal(cluster.phases(), 'n1 Gone, n2 Drained');
        const traces = cluster.traces().map((trace) => trace.slice(0, 2));
        assert.deepEqual(traces, laterNodes === 'Drain' ? ['n2', 'n1'] : ['n2']);
        assert.equal(cluster.pods.size, laterNodes === 'Drain' ? 0 : 1);
      });
    }
  }
});

describe('a NodeDrain of more than 1000 nodes', () => {
  const names = Array.from({ length: 1001 }, (_, i) => `blue@n${1000 + i}`);
  const message = 'it is for 1001 nodes, and a NodeDrain may have 1000: make several';

  it('begins none and says why, until there are fewer', () => {
    const drain = drainOf({ ...pool, cordon: 'AtStart', limits: { nodesAtOnce: 0 } });
    const cluster = new SharedCluster([drain], names);
    cluster.pass(60_000);
    const { phase, blockers } = cluster.state();
    assert.deepEqual([phase, blockers, cluster.done()], ['Blocked', [message], ['guard']]);
    cluster.change('n1000', { labels: {} });
    cluster.pass(60_000);
    assert.deepEqual([cluster.state().phase, cluster.pods.size], ['Drained', 1]);
  });

  it('that has begun, and has grown since, finishes what it has begun', () => {
    const drain = drainOf({ ...pool, laterNodes: 'Drain', limits: { heldUpNodes: 0 } });
    const cluster = new SharedCluster([drain], names.slice(0, 1000));
    cluster.answers.set('evict on-n1000', byBudget);
    cluster.pass(1_000);
    cluster.addNode('blue@n2000');
    cluster.answers.delete('evict on-n1000');
    cluster.answers.set('evict on-n1001', byBudget);
    cluster.pass(60_000);
    const { blockers, nodes } = cluster.state();
    assert.deepEqual(blockers, [message]);
    assert.deepEqual([nodes[0]?.phase, nodes[1]?.phase], ['Drained', 'Held']);
    cluster.deleteNode('n1500');
    cluster.pass(5_000);
    assert.equal(cluster.state().nodes[1]?.phase, 'Draining');
  });

  it('that an earlier version has begun keeps what is set on nodes that its status has no room for', () => {
    const limits = { nodesAtOnce: 0 };
    const cluster = new SharedCluster([drainOf({ ...pool, limits })], names.slice(1));
    cluster.pass(10_000);
    assert.equal(cluster.state().phase, 'Drained');
    cluster.done();
    cluster.restart(() => {
      cluster.addNode('blue@n1000');
      const { known, ...drain } = cluster.drain();
      const observedSelector = null;
      cluster.declare({ ...drain, known: known.slice(1), knowsAll: false, observedSelector });
    });
    cluster.pass(60_000);
    assert.deepEqual(cluster.state().blockers, [message]);
    assert.ok(!cluster.done().some((line) => line.startsWith('undo')));
  });
});
