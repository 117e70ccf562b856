// Which nodes the selector of a NodeDrain finds before it begins and later, and how many there may be.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCondition, Outcome } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';

const pool = { nodeSelector: { matchLabels: { pool: 'blue' } } };
const ready = { apiVersion: 'v1', kind: 'Node', name: 'n0', condition: { type: 'Ready' } };
const gates = [{ name: 'storage', object: ready }];
const closed: Outcome = { kind: 'changed', message: 'not ready' };
const blocked = { kind: 'blocked', message: 'budget', retryAfter: null } as const;
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
        if (!wasDrained) cluster.answers.set('evict on-n1', blocked);
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
    cluster.answers.set('evict on-n1000', blocked);
    cluster.pass(1_000);
    cluster.addNode('blue@n2000');
    cluster.answers.delete('evict on-n1000');
    cluster.answers.set('evict on-n1001', blocked);
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
