// Nodes of a NodeDrain are closed before the first pod goes: no pod has to go twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';

const names = ['n1', 'n2', 'n3'];
const overloaded: Outcome = { kind: 'failed', status: 500, message: 'busy', retryAfter: null };
const forbidden: Outcome = { kind: 'failed', status: 403, message: 'may not', retryAfter: null };

const started = (spec: object): SharedCluster =>
  new SharedCluster([drainOf({ nodes: names, ...spec })], names);

describe('a NodeDrain with cordon AtStart', () => {
  const atStart = { cordon: 'AtStart' };

  it('begins with no node before the others are cordoned', () => {
    const cluster = started(atStart);
    cluster.slow.add('cordon n2');
    cluster.pass(10_000);
    assert.deepEqual(cluster.done(), ['guard', 'cordon n1', 'cordon n2', 'cordon n3']);
    assert.equal(cluster.phases(), 'n1 Pending, n2 Pending, n3 Pending');
    cluster.answer();
    cluster.pass(10_000);
    assert.deepEqual(cluster.done().slice(0, 2), ['taint n1', 'evict on-n1']);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('says which one cannot be cordoned, and begins when that can', () => {
    const cluster = started(atStart);
    cluster.answers.set('cordon n2', overloaded);
    cluster.pass(30_000);
    assert.ok(!cluster.done().includes('taint n1'));
    const { phase, blockers } = cluster.state();
    assert.equal(phase, 'Blocked');
    const why = 'node n2 is to be cordoned first: busy';
    assert.deepEqual(
      blockers,
      names.map((name) => `node ${name}: ${why}`),
    );
    cluster.answers.clear();
    cluster.pass(30_000);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('begins after a minute all the same', () => {
    const cluster = started(atStart);
    cluster.answers.set('cordon n2', overloaded);
    cluster.pass(59_000);
    assert.ok(!cluster.log.includes('taint n1'));
    cluster.pass(30_000);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('leaves those alone that are cordoned', () => {
    const cluster = started(atStart);
    cluster.change('n2', { unschedulable: true });
    cluster.pass(1_000);
    assert.deepEqual(cluster.done().slice(0, 3), ['guard', 'cordon n1', 'cordon n3']);
  });

  it('does not fight who uncordons one, under the next leader neither', () => {
    const cluster = started(atStart);
    cluster.answers.set('evict on-n1', { kind: 'blocked', message: 'no', retryAfter: null });
    cluster.pass(3_000);
    cluster.change('n2', { unschedulable: false });
    cluster.done();
    cluster.pass(3_000);
    cluster.restart();
    cluster.pass(3_000);
    assert.ok(!cluster.done().includes('cordon n2'));
  });

  it('does not wait for the cordon of its only node: the taint brings it', () => {
    const cluster = new SharedCluster([drainOf({ ...atStart, nodes: ['n1'] })], ['n1']);
    cluster.answers.set('cordon n1', overloaded);
    cluster.pass(1_000);
    assert.ok(cluster.done().includes('evict on-n1'));
  });

  it('does not wait for what nobody lets it cordon', () => {
    const cluster = started(atStart);
    cluster.answers.set('cordon n3', forbidden);
    cluster.pass(1_000);
    assert.ok(cluster.log.includes('evict on-n1'));
  });

  it('waits no more for a node that is gone', () => {
    const cluster = started(atStart);
    cluster.answers.set('cordon n2', { kind: 'gone' });
    cluster.pass(1_000);
    assert.ok(cluster.log.includes('evict on-n1'));
  });
});

describe('a NodeDrain with cordon AtStart whose nodes are taken back', () => {
  it('cordons them again before the first one begins anew', () => {
    const windows = [{ schedule: '0 2 * * *', duration: '1h' }];
    const spec = { nodes: names, windows, whileClosed: 'RollBack', cordon: 'AtStart' };
    const cluster = new SharedCluster([drainOf(spec)], names);
    cluster.answers.set('evict on-n1', { kind: 'blocked', message: 'no', retryAfter: null });
    cluster.pass(3_000);
    assert.equal(cluster.phases(), 'n1 Draining, n2 Pending, n3 Pending');
    cluster.windows = { kind: 'changed', message: 'opens at two' };
    cluster.pass(30_000);
    assert.deepEqual(cluster.traces(), []);
    cluster.done();
    cluster.windows = { kind: 'done' };
    cluster.pass(30_000);
    const cordons = names.map((name) => `cordon ${name}`);
    assert.deepEqual(cluster.done().slice(0, 4), [...cordons, 'taint n1']);
  });
});

describe('a NodeDrain of several nodes at once', () => {
  const together = { limits: { nodesAtOnce: 2 } };

  it('sends no pod away before all of them are closed', () => {
    const cluster = started(together);
    cluster.slow.add('taint n2');
    cluster.pass(10_000);
    assert.deepEqual(cluster.done(), ['guard', 'taint n1', 'taint n2']);
    cluster.answer();
    cluster.pass(10_000);
    assert.deepEqual(cluster.done().slice(0, 2), ['evict on-n1', 'evict on-n2']);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('does not wait for one that cannot be', () => {
    const cluster = started(together);
    cluster.answers.set('taint n2', overloaded);
    cluster.pass(1_000);
    assert.ok(cluster.log.includes('evict on-n1'));
  });
});
