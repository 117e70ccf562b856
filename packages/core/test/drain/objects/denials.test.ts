// What becomes of a NodeDrain to which the API server denies something.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';

const denied = {
  kind: 'failed',
  status: 403,
  message: 'change freeze until Monday',
  retryAfter: null,
} as const;

describe('a NodeDrain whose evictions are denied', () => {
  it('says why, counts the pods that are left, and begins no further node', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2', 'n3'] })], ['n1', 'n2', 'n3']);
    for (const name of ['n1', 'n2', 'n3']) cluster.answers.set(`evict on-${name}`, denied);
    cluster.pass(60_000);
    const { phase, podsLeft, pods, blockers, nodes } = cluster.state();
    assert.deepEqual([phase, podsLeft, pods[0]?.pod], ['Failed', 3, 'shop/on-n1']);
    assert.deepEqual(blockers, [
      'node n1: pod shop/on-n1: change freeze until Monday',
      'node n2: not begun: nothing was allowed on node n1',
      'node n3: not begun: nothing was allowed on node n1',
    ]);
    assert.deepEqual(
      nodes.map(({ reason }) => reason),
      ['Denied', 'NotBegun', 'NotBegun'],
    );
    assert.deepEqual(cluster.traces(), ['n1 cordon work mark of kernel']);
    cluster.restart();
    assert.deepEqual(cluster.state().blockers, blockers);
  });

  it('does not take for allowed what was leaving before it began', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.addPod('old', 'n1', { deletionTimestamp: 30_000 });
    cluster.start();
    cluster.answers.set('evict on-n1', denied);
    cluster.pass(3_000);
    cluster.deletePod('old');
    cluster.pass(60_000);
    const reasons = cluster.state().nodes.map(({ reason }) => reason);
    assert.deepEqual(reasons, ['Denied', 'NotBegun']);
  });

  it('goes on where others of the node were allowed', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.addPod('db', 'n1');
    cluster.answers.set('evict db', denied);
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    assert.equal(cluster.state().podsLeft, 1);
  });

  for (const how of ['a restart', 'an edit'] as const) {
    it(`goes on where others of the node were allowed before ${how}`, () => {
      const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
      cluster.addPod('db', 'n1');
      cluster.answers.set('evict db', { kind: 'blocked', message: 'not yet', retryAfter: null });
      cluster.pass(10_000);
      if (how === 'a restart') cluster.restart();
      else cluster.edit({ limits: { podsAtOnce: 5 } });
      cluster.answers.set('evict db', denied);
      cluster.pass(120_000);
      assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    });
  }

  it('begins no node that comes later, under the next leader neither', () => {
    for (const isNext of [false, true]) {
      const nodeSelector = { matchLabels: { pool: 'blue' } };
      const spec = { nodes: undefined, nodeSelector, laterNodes: 'Drain' };
      const cluster = new SharedCluster([drainOf(spec)], ['blue@n1']);
      cluster.answers.set('evict on-n1', denied);
      cluster.pass(60_000);
      if (isNext) cluster.restart();
      cluster.addNode('blue@n2');
      cluster.pass(60_000);
      assert.equal(cluster.phases(), 'n1 Failed, n2 Failed');
    }
  });

  it('tries all of them again once it is edited', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('evict on-n1', denied);
    cluster.pass(60_000);
    cluster.answers.clear();
    cluster.edit({});
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});

describe('a NodeDrain to which writes on nodes are denied', () => {
  it('begins no further node where the first could not be tainted', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('taint n1', denied);
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Failed');
    assert.equal(cluster.state().nodes[0]?.message, 'change freeze until Monday');
    assert.deepEqual(cluster.traces(), []);
  });

  it('goes on when it may show again that it is at work, and says so until then', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
    const budget = { kind: 'blocked', message: 'not yet', retryAfter: null } as const;
    cluster.answers.set('evict on-n1', budget);
    cluster.pass(5_000);
    cluster.answers.set('renew n1', denied);
    cluster.pass(300_000);
    const said = 'node n1 could not be written, trying again: change freeze until Monday';
    assert.ok(cluster.state().blockers.includes(said));
    cluster.answers.delete('renew n1');
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Draining');
    assert.ok(!cluster.state().blockers.includes(said));
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained');
  });
});
