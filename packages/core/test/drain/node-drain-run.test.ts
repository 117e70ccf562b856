// People change a NodeDrain and its nodes while it runs.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod, type Pod } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';

const pool = { nodeSelector: { matchLabels: { pool: 'blue' } } };
const blocked = {
  kind: 'blocked',
  message: 'The disruption budget web needs 1 healthy pods and has 1 currently',
  retryAfter: null,
} as const;

/** A drain of n1 and n2 whose first pod a budget holds. */
function held(spec: object = {}): SharedCluster {
  const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'], ...spec })], ['n1', 'n2']);
  cluster.answers.set('evict on-n1', blocked);
  cluster.pass(4_000);
  assert.equal(cluster.phases(), 'n1 Draining, n2 Pending');
  cluster.done();
  return cluster;
}

describe('a NodeDrain that is edited', () => {
  it('gives back what it has set on a node that is taken out', () => {
    const cluster = held();
    cluster.edit({ nodes: ['n2'] });
    cluster.pass(20_000);
    assert.deepEqual(cluster.done(), ['taint n2', 'undo n1', 'evict on-n2', 'end n2']);
    assert.equal(cluster.phases(), 'n2 Drained');
    assert.deepEqual(cluster.traces(), ['n2 cordon work mark of kernel']);
  });

  it('goes on with what it knows, and begins with nodes that are put in', () => {
    const cluster = held();
    cluster.answers.clear();
    cluster.addNode('n3');
    cluster.edit({ nodes: ['n1', 'n2', 'n3'] });
    const { startedAt } = cluster.state();
    cluster.pass(20_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained, n3 Drained');
    assert.equal(cluster.state().startedAt, startedAt);
    assert.equal(cluster.state().podsGone, 3);
  });

  it('gives back what it has set on a node that was taken out while that was written', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1', 'n2']);
    cluster.slow.add('taint n1');
    cluster.pass(4_000);
    cluster.edit({ nodes: ['n2'] });
    cluster.pass(4_000);
    cluster.answer();
    cluster.pass(20_000);
    assert.deepEqual(cluster.traces(), ['n2 cordon work mark of kernel']);
  });

  it('tries failed nodes again', () => {
    const cluster = held({ timeouts: { node: '10s' } });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    assert.equal(cluster.state().phase, 'Failed');
    cluster.answers.clear();
    cluster.edit({ timeouts: { node: 20_000 } });
    cluster.pass(60_000);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('takes an answer to what it asked before for no answer to what it asks now', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('evict on-n1', { ...blocked, retryAfter: 60_000 });
    cluster.answers.set('evict on-n2', { ...blocked, retryAfter: 60_000 });
    cluster.pass(0);
    cluster.holdsAnswers = true;
    cluster.pass(1_000);
    cluster.edit({ nodes: ['n2', 'n1'], limits: { nodesAtOnce: 0 } });
    cluster.pass(1_000);
    cluster.answer();
    cluster.pass(1_000);
    const pods = cluster.state().pods.map(({ pod, state }) => `${pod} ${state}`);
    assert.deepEqual(pods.sort(), ['shop/on-n1 blocked', 'shop/on-n2 blocked']);
  });

  it('asks nobody to go and begins no node while it is paused, and goes on then', () => {
    const cluster = held();
    cluster.edit({ paused: true });
    cluster.pass(60_000);
    // The sign of life goes on, so that nobody else takes the pods.
    assert.deepEqual(cluster.done(), ['taint n1']);
    assert.equal(cluster.state().phase, 'Paused');
    const [drain] = cluster.node('n1').drains ?? [];
    assert.ok(Number(drain?.heartbeat) > cluster.now - 15_000);
    cluster.answers.clear();
    cluster.edit({ paused: false });
    cluster.pass(60_000);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('that is paused from the start sets nothing', () => {
    const drain = drainOf({ nodes: ['n1'], paused: true, cordon: 'AtStart' });
    const cluster = new SharedCluster([drain], ['n1']);
    cluster.pass(60_000);
    assert.deepEqual([cluster.done(), cluster.traces()], [['guard'], []]);
  });

  it('with the same selector stays with the nodes that it began with', () => {
    const cluster = new SharedCluster([drainOf(pool)], ['blue@n1', 'blue@n2']);
    cluster.answers.set('evict on-n1', blocked);
    cluster.pass(4_000);
    cluster.addNode('blue@n3');
    cluster.change('n2', { labels: {} });
    cluster.edit({ limits: { podsAtOnce: 1 } });
    cluster.answers.clear();
    cluster.pass(20_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});

describe('a NodeDrain that is deleted', () => {
  it('asks no further pod to go, and takes back what it has set', () => {
    const cluster = held({ cordon: 'AtStart' });
    cluster.remove();
    cluster.pass(60_000);
    assert.deepEqual(cluster.done(), ['undo n1', 'undo n2', 'let go']);
    assert.deepEqual(cluster.traces(), []);
  });

  it('waits for the answer to the taint that it is putting on', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
    cluster.pass(0);
    cluster.holdsAnswers = true;
    cluster.remove();
    cluster.pass(10_000);
    assert.ok(cluster.drains.has('kernel'));
    cluster.answer();
    cluster.pass(10_000);
    assert.deepEqual(cluster.traces(), []);
    assert.ok(!cluster.drains.has('kernel'));
  });

  /** Deletes it after a second, lets what is slow be written ten seconds later, and looks. */
  const leavesNothing = (cluster: SharedCluster): void => {
    cluster.remove();
    cluster.pass(10_000);
    assert.ok(cluster.drains.has('kernel'));
    cluster.answer();
    cluster.pass(60_000);
    assert.deepEqual([cluster.traces(), cluster.drains.size], [[], 0]);
    const set = cluster.done().filter((line) => /^(cordon|taint)/.test(line));
    assert.deepEqual(set, []);
  };

  /** Its writes of these words are slow, and it has sent what it sends in a second: never more than 20. */
  const slow = (spec: object, names: readonly string[], words: readonly string[]) => {
    const cluster = new SharedCluster([drainOf({ nodes: names, ...spec })], names);
    for (const line of words) cluster.slow.add(line);
    cluster.pass(1_000);
    const set = cluster.done().filter((line) => /^(cordon|taint)/.test(line));
    assert.ok(set.length <= 20 && set.includes(words[0] ?? ''));
    return cluster;
  };
  const atStart = { cordon: 'AtStart' };

  it('waits for the answers to the cordons that it is setting', () => {
    leavesNothing(slow(atStart, ['n1', 'n2', 'n3'], ['cordon n1', 'cordon n2', 'cordon n3']));
    leavesNothing(slow(atStart, ['n1', 'n2', 'n3'], ['cordon n3']));
  });

  it('cordons no further node', () => {
    const names = Array.from({ length: 100 }, (_, at) => `n${at}`);
    const words = names.map((name) => `cordon ${name}`);
    leavesNothing(slow(atStart, names, words));
  });

  it('waits for what it had sent before it was edited', () => {
    const cases: readonly (readonly [spec: object, word: string])[] = [
      [{}, 'taint n1'],
      [atStart, 'cordon n2'],
    ];
    for (const [spec, word] of cases) {
      const cluster = slow(spec, ['n1', 'n2'], [word]);
      cluster.edit({ limits: { podsAtOnce: 3 } });
      cluster.edit({ limits: { podsAtOnce: 4 } });
      leavesNothing(cluster);
    }
  });

  it('takes back what it had set, unseen, on a node that an edit took out', () => {
    const cluster = slow({}, ['n1', 'n2'], ['taint n1']);
    cluster.edit({ nodes: ['n2'] });
    leavesNothing(cluster);
  });

  it('is undone whatever was written last: an answer to another write is no answer to this', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
    cluster.pass(20_000);
    const failed = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
    cluster.answers.set('undo n1', failed);
    cluster.remove();
    cluster.pass(60_000);
    assert.ok(cluster.drains.has('kernel'));
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.deepEqual([cluster.traces(), cluster.drains.size], [[], 0]);
  });

  it('says what cannot be taken back', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
    cluster.pass(20_000);
    const forbidden = {
      kind: 'failed',
      status: 403,
      message: 'may not',
      retryAfter: null,
    } as const;
    cluster.answers.set('undo n1', forbidden);
    cluster.remove();
    cluster.pass(60_000);
    assert.deepEqual(cluster.state().blockers, ['node n1 must still be undone: may not']);
    cluster.answers.clear();
    cluster.answers.set('let go', forbidden);
    cluster.pass(60_000);
    assert.deepEqual(cluster.state().blockers, ['its finalizer must be removed: may not']);
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.deepEqual([cluster.traces(), cluster.drains.size], [[], 0]);
  });

  it('after an edit, and before anything was set, is let go at once', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'], paused: true })], ['n1']);
    cluster.pass(1_000);
    cluster.edit({ limits: { podsAtOnce: 3 } });
    cluster.remove();
    cluster.pass(0);
    assert.deepEqual(cluster.done(), ['guard', 'let go']);
  });

  it('before anything was set leaves no trace', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
    cluster.remove();
    cluster.pass(1_000);
    assert.deepEqual(cluster.traces(), []);
  });
});

describe('a node of a NodeDrain', () => {
  it('that somebody uncordons stays so, over a restart too', () => {
    const cluster = held({ cordon: 'AtStart' });
    cluster.change('n1', { unschedulable: false });
    cluster.change('n2', { unschedulable: false });
    cluster.pass(60_000);
    cluster.restart();
    cluster.pass(60_000);
    assert.ok(!cluster.done().some((line) => line.startsWith('cordon')));
  });

  it('that is deleted is gone, and the others go on', () => {
    const cluster = held();
    cluster.deleteNode('n1');
    cluster.pass(20_000);
    assert.equal(cluster.phases(), 'n1 Gone, n2 Drained');
    assert.equal(cluster.state().phase, 'Drained');
    cluster.restart();
    cluster.pass(20_000);
    assert.equal(cluster.phases(), 'n1 Gone, n2 Drained');
  });

  it('whose taint is removed has failed, and no further pod goes', () => {
    const cluster = held();
    cluster.change('n1', { taints: [] });
    cluster.pass(20_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    assert.equal(cluster.state().nodes[0]?.reason, 'TaintRemoved');
    assert.ok(!cluster.done().includes('evict on-n1'));
  });
});

// A NodeDrain is edited, or another leader goes on with it.
const byBudget = { kind: 'blocked', message: 'budget', retryAfter: null } as const;
const denied = { kind: 'failed', status: 403, message: 'denied', retryAfter: null } as const;

/** A pod on node n1, bound at an instant. */
function pod(name: string, boundAt: number): Pod {
  return makePod({ namespace: 'shop', name, uid: name, nodeName: 'n1', boundAt });
}

/** A drain of two nodes, where a budget refuses the pod of the first. */
function heldOnBlue(spec: object): SharedCluster {
  const cluster = new SharedCluster([drainOf(spec)], ['blue@n1', 'blue@n2']);
  cluster.answers.set('evict on-n1', byBudget);
  cluster.pass(4_000);
  assert.equal(cluster.phases(), 'n1 Draining, n2 Pending');
  cluster.answers.clear();
  cluster.done();
  return cluster;
}

describe('a node whose taint was removed while nobody led', () => {
  it('has failed: no pod goes, and it is not tainted again', () => {
    const cluster = heldOnBlue({ nodes: ['n1', 'n2'] });
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
    const cluster = heldOnBlue({ nodes: ['n1', 'n2'], gates: whole, whileClosed: 'RollBack' });
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
      cluster.answers.set('evict early', byBudget);
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
      const cluster = heldOnBlue(pool);
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
    const cluster = heldOnBlue(pool);
    cluster.restart(() => {
      cluster.addNode('blue@n3');
      cluster.edit({ limits: { podsAtOnce: 5 } }, { observedSelector: null });
    });
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained, n3 Drained');
  });

  it('are those of the last selector after two edits in a row', () => {
    const cluster = heldOnBlue(pool);
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
      cluster.answers.set(`evict ${name}`, byBudget);
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
    const answers = { a: busy, b: byBudget, c: { ...byBudget, message: 'another' }, d: byBudget };
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
      cluster.answers.set('evict early', byBudget);
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
    cluster.answers.set('evict early', byBudget);
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
