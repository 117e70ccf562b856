// What a NodeDrain knows when it is edited or another leader goes on with it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod, type Pod } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';

const pool = { nodeSelector: { matchLabels: { pool: 'blue' } } };
const blocked = { kind: 'blocked', message: 'budget', retryAfter: null } as const;
const denied = { kind: 'failed', status: 403, message: 'denied', retryAfter: null } as const;

/** A pod on node n1, bound at an instant. */
function pod(name: string, boundAt: number): Pod {
  return makePod({ namespace: 'shop', name, uid: name, nodeName: 'n1', boundAt });
}

/** A drain of two nodes, where a budget refuses the pod of the first. */
function held(spec: object): SharedCluster {
  const cluster = new SharedCluster([drainOf(spec)], ['blue@n1', 'blue@n2']);
  cluster.answers.set('evict on-n1', blocked);
  cluster.pass(4_000);
  assert.equal(cluster.phases(), 'n1 Draining, n2 Pending');
  cluster.answers.clear();
  cluster.done();
  return cluster;
}

describe('a node whose taint was removed while nobody led', () => {
  it('has failed: no pod goes, and it is not tainted again', () => {
    const cluster = held({ nodes: ['n1', 'n2'] });
    cluster.restart(() => cluster.change('n1', { taints: [] }));
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    assert.equal(cluster.state().nodes[0]?.reason, 'TaintRemoved');
    assert.deepEqual(cluster.done(), ['taint n2', 'end n1', 'evict on-n2', 'end n2']);
  });

  it('begins anew where the drain had rolled it back, which its status did not say yet', () => {
    const gates = [{ name: 'storage', object: { apiVersion: 'v1', kind: 'Node', name: 'n1' } }];
    const condition = { type: 'Ready' };
    const whole = gates.map(({ name, object }) => ({ name, object: { ...object, condition } }));
    const cluster = held({ nodes: ['n1', 'n2'], gates: whole, whileClosed: 'RollBack' });
    const { unschedulable: _u, drains: _d, drainMarks: _m, ...bare } = cluster.node('n1');
    cluster.restart(() => cluster.nodes.set('n1', { ...bare, taints: [] }));
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});

describe('a node that was deleted and made anew', () => {
  const early = pod('early', 1_000);
  const late = pod('late', 7_000);
  type Case = readonly [
    what: string,
    before: (cluster: SharedCluster) => void,
    meanwhile: (cluster: SharedCluster) => void,
    later: (cluster: SharedCluster) => void,
    end: string,
  ];
  const made = (cluster: SharedCluster): void => {
    cluster.now = 6_000;
    cluster.addNode('n1');
  };
  const gone = (cluster: SharedCluster): void => {
    cluster.nodes.delete('n1');
    cluster.tell({ kind: 'nodeDelete', name: 'n1' });
  };
  const nothing = (): void => {};
  const cases: readonly Case[] = [
    ['while nobody led, with its pods', nothing, made, nothing, 'Failed TaintRemoved 1'],
    ['before the next leader began, with its pods', gone, made, nothing, 'Failed TaintRemoved 1'],
    ['under the next leader, with its pods', nothing, gone, made, 'Failed TaintRemoved 1'],
    ['while nobody led, without its pods', nothing, replaced, nothing, 'Gone  0'],
  ];
  function replaced(cluster: SharedCluster): void {
    made(cluster);
    cluster.pods.delete('early');
  }
  for (const [what, before, meanwhile, later, end] of cases) {
    it(`${what}: ${end}`, () => {
      const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
      cluster.pods.clear();
      cluster.pods.set('early', early);
      cluster.answers.set('evict early', blocked);
      cluster.start();
      cluster.pass(4_000);
      assert.equal(cluster.phases(), 'n1 Draining');
      before(cluster);
      cluster.restart(() => meanwhile(cluster));
      later(cluster);
      cluster.tell({ kind: 'podUpsert', pod: late });
      cluster.pass(60_000);
      const { nodes, phase } = cluster.state();
      const [node] = nodes;
      assert.equal(`${node?.phase} ${node?.reason} ${node?.podsLeft}`, end);
      assert.equal(phase, node?.phase === 'Gone' ? 'Drained' : 'Failed');
    });
  }
});

describe('the nodes of a NodeDrain that is edited while nobody leads', () => {
  const cases: readonly (readonly [what: string, change: object, phases: string])[] = [
    ['stay the same by the same selector', {}, 'n1 Drained, n2 Drained'],
    [
      'are found anew by another selector',
      { nodeSelector: { matchLabels: { pool: 'red' } } },
      'n4 Drained',
    ],
  ];
  for (const [what, change, phases] of cases) {
    it(what, () => {
      const cluster = held(pool);
      cluster.restart(() => {
        cluster.addNode('blue@n3');
        cluster.addNode('red@n4');
        cluster.edit({ limits: { podsAtOnce: 5 }, ...change });
      });
      cluster.pass(60_000);
      assert.equal(cluster.phases(), phases);
    });
  }

  it('are found anew where the status, of an earlier version, does not say the selector', () => {
    const cluster = held(pool);
    cluster.restart(() => {
      cluster.addNode('blue@n3');
      cluster.edit({ limits: { podsAtOnce: 5 } }, { observedSelector: null });
    });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained, n3 Drained');
  });

  it('are those of the last selector after two edits in a row', () => {
    const cluster = held(pool);
    cluster.restart();
    cluster.addNode('red@n4');
    cluster.edit({ nodeSelector: { matchLabels: { pool: 'red' } } });
    cluster.edit({ nodeSelector: { matchLabels: { pool: 'blue' } } });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});

describe('a node that has failed as budgets refused its pods until its time was over', () => {
  const message = 'pod shop/a (2 such pods): budget';
  it('says what refused them, under the next leader too', () => {
    const spec = { nodes: ['n1'], timeouts: { node: '5s' } };
    const cluster = new SharedCluster([drainOf(spec)], ['n1']);
    cluster.pods.clear();
    for (const name of ['a', 'b']) {
      cluster.pods.set(name, pod(name, 0));
      cluster.answers.set(`evict ${name}`, blocked);
    }
    cluster.start();
    cluster.pass(10_000);
    for (const meanwhile of ['before', 'after']) {
      const { nodes, blockers, podsLeft } = cluster.state();
      assert.equal(nodes[0]?.reason, 'Blocked', meanwhile);
      assert.equal(nodes[0].message, message, meanwhile);
      assert.deepEqual([blockers, podsLeft], [[`node n1: ${message}`], 2], meanwhile);
      cluster.restart();
      cluster.pass(10_000);
    }
  });

  it('says it of each budget, and first of what would not have gone away by itself', () => {
    const spec = { nodes: ['n1'], timeouts: { node: '5s' } };
    const cluster = new SharedCluster([drainOf(spec)], ['n1']);
    cluster.pods.clear();
    const busy = { kind: 'failed', status: 429, message: 'busy', retryAfter: null } as const;
    const answers = { a: busy, b: blocked, c: { ...blocked, message: 'another' }, d: blocked };
    for (const [name, answer] of Object.entries(answers)) {
      cluster.pods.set(name, pod(name, 0));
      cluster.answers.set(`evict ${name}`, answer);
    }
    cluster.start();
    cluster.pass(10_000);
    assert.deepEqual(cluster.state().blockers, [
      'node n1: pod shop/b (2 such pods): budget',
      ...['pod shop/a: busy', 'pod shop/c: another'],
    ]);
  });
});

describe('status.podsLeft of a node that has failed', () => {
  const cases: readonly (readonly [why: string, fail: (cluster: SharedCluster) => void])[] = [
    ['TaintRemoved', (cluster) => cluster.change('n1', { taints: [] })],
    ['Denied', (cluster) => cluster.answers.set('evict early', denied)],
  ];
  for (const [why, fail] of cases) {
    it(`counts after a restart the pods that were there (${why})`, () => {
      const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
      cluster.pods.clear();
      cluster.pods.set('early', pod('early', 0));
      cluster.answers.set('evict early', blocked);
      cluster.start();
      cluster.pass(4_000);
      fail(cluster);
      cluster.pass(60_000);
      const before = cluster.state();
      assert.deepEqual([before.nodes[0]?.reason, before.podsLeft], [why, 1]);
      cluster.restart(() => cluster.addPod('later', 'n1'));
      cluster.tell({ kind: 'podUpsert', pod: pod('late', cluster.now) });
      cluster.pass(60_000);
      const { nodes, podsLeft, blockers } = cluster.state();
      assert.deepEqual([nodes[0]?.reason, nodes[0]?.podsLeft, podsLeft], [why, 1, 1]);
      assert.equal(blockers[0], before.blockers[0]);
      cluster.tell({ kind: 'podDelete', uid: 'early' });
      assert.equal(cluster.state().podsLeft, 0);
    });
  }
});

describe('the phase of a NodeDrain', () => {
  it('is Blocked where pods of a failed node are left, and the next node is held', () => {
    const spec = { nodes: ['n1', 'n2'], heeds: { pauseLabel: 'keep' } };
    const cluster = new SharedCluster([drainOf(spec)], ['n2', 'n1']);
    cluster.pods.set('early', pod('early', 0));
    cluster.answers.set('evict early', blocked);
    cluster.change('n2', { labels: { keep: '' } });
    cluster.start();
    cluster.pass(4_000);
    cluster.restart(() => cluster.change('n1', { taints: [] }));
    cluster.pass(4_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Held');
    const { phase, podsLeft } = cluster.state();
    assert.deepEqual([phase, podsLeft], ['Blocked', 2]);
  });
});

describe('limits.podsAtOnce', () => {
  const cases: readonly (readonly [what: string, go: (cluster: SharedCluster) => void])[] = [
    ['a restart', (cluster) => cluster.restart()],
    ['an edit', (cluster) => cluster.edit({})],
  ];
  for (const [what, go] of cases) {
    it(`counts after ${what} the pods that have not ended yet`, () => {
      const limits = { podsAtOnce: 1, nodesAtOnce: 0 };
      const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'], limits })], ['n1', 'n2']);
      cluster.lingersMs = 600_000;
      cluster.pass(30_000);
      for (let i = 0; i < 3; i++) {
        go(cluster);
        cluster.pass(10_000);
      }
      const evicted = cluster.done().filter((line) => line.startsWith('evict'));
      assert.deepEqual(evicted, ['evict on-n1']);
    });
  }

  it('does not count pods on nodes whose turn has not come', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'], limits: { podsAtOnce: 1 } });
    const cluster = new SharedCluster([drain], ['n1', 'n2']);
    const leaving = { name: 'old', nodeName: 'n2', deletionTimestamp: 600_000 };
    cluster.pods.set('old', makePod({ namespace: 'shop', uid: 'old', ...leaving }));
    cluster.start();
    cluster.pass(30_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Draining');
  });
});
