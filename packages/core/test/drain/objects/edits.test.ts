// What people do to a NodeDrain and to its nodes while it runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
    assert.deepEqual(cluster.state().blockers, ['node n1 is to be undone: may not']);
    cluster.answers.clear();
    cluster.answers.set('let go', forbidden);
    cluster.pass(60_000);
    assert.deepEqual(cluster.state().blockers, ['its finalizer is to be taken off: may not']);
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
