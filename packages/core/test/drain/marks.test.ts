// A NodeDrain that takes nodes back when its window closes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { DrainWrites } from '../../src/drain/marks.ts';
import { drainOf, knownNode } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const closed: Outcome = { kind: 'changed', message: 'opens at two' };
const windows = [{ schedule: '0 2 * * *', duration: '1h' }];
const spec = { nodes: ['n1', 'n2'], windows, whileClosed: 'RollBack' };

/** Its pod is refused, so that it is not done when the window closes. */
function started(given: object = {}): World {
  const world = new World(drainOf({ ...spec, ...given }), ['n1', 'n2']);
  world.refuses.add('on-n1');
  world.pass(10_000);
  return world;
}

function close(world: World, outcome: Outcome = closed): void {
  world.answers = ({ kind }) => (kind === 'windows' ? outcome : { kind: 'done' });
}

describe('a NodeDrain with whileClosed RollBack', () => {
  it('takes back what it has set on a node that still has pods, and begins anew', () => {
    const world = started();
    assert.deepEqual(world.log, ['guard', 'taint n1']);
    close(world);
    world.pass(20_000);
    assert.deepEqual(world.log.slice(2), ['undo n1']);
    const [n1] = world.state().nodes;
    assert.deepEqual([n1?.phase, n1?.reason], ['Held', 'OutsideWindow']);
    assert.deepEqual(world.nodes.get('n1')?.taints, []);
    world.refuses.clear();
    world.pass(60_000);
    assert.deepEqual(world.log.slice(3), []);
    world.answers = () => ({ kind: 'done' });
    world.pass(60_000);
    assert.deepEqual(world.log.slice(3), [
      ...['taint n1', 'evict on-n1', 'end n1'],
      ...['taint n2', 'evict on-n2', 'end n2'],
    ]);
    assert.equal(world.state().phase, 'Drained');
  });

  it('evicts each time anew the pods that run there in between, as often as that is', () => {
    const world = started();
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
    for (let night = 0; night < 7; night += 1) {
      world.show({ name: `web-${night}`, nodeName: 'n1', owner });
      world.pass(1_000);
      assert.ok(world.log.includes(`evict web-${night}`), `night ${night}`);
      close(world);
      world.pass(60_000);
      world.answers = () => ({ kind: 'done' });
      world.pass(60_000);
    }
    world.refuses.clear();
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('takes a node back once, however soon that begins anew', () => {
    const world = started();
    const until = world.now + 7_000;
    world.answers = ({ kind }) =>
      kind === 'windows' && world.now < until ? { ...closed, until } : { kind: 'done' };
    world.pass(60_000);
    assert.deepEqual(world.log.slice(2, 4), ['undo n1', 'taint n1']);
    assert.equal(world.log.lastIndexOf('undo n1'), 2);
    world.refuses.clear();
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('says by its conditions that it is not drained for now', () => {
    const world = started({ nodeConditions: 'Publish' });
    close(world);
    world.pass(20_000);
    assert.ok(world.log.includes('n1 DrainInProgress=False'));
    const conditions = world.nodes.get('n1')?.conditions ?? [];
    const isTrue = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
    assert.deepEqual(isTrue, ['MaintenancePlanned']);
  });

  it('holds and takes nothing back where nobody knows whether it is closed', () => {
    const world = started();
    close(world, { kind: 'failed', status: null, message: 'away', retryAfter: null });
    world.pass(60_000);
    world.refuses.clear();
    world.pass(600_000);
    assert.deepEqual(world.log, ['guard', 'taint n1']);
  });

  it('takes nothing back where nobody knows whether a gate is open', () => {
    const gates = [{ name: 'alerts', noAlerts: { url: 'http://prometheus', query: 'ALERTS' } }];
    const world = started({ windows: [], gates });
    const away: Outcome = { kind: 'failed', status: null, message: 'away', retryAfter: null };
    world.answers = () => away;
    world.pass(60_000);
    assert.deepEqual(world.log, ['guard', 'taint n1']);
    world.answers = () => closed;
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'undo n1']);
  });

  it('leaves a node to the steps after it when its pods are gone', () => {
    const object = { apiVersion: 'v1', kind: 'Node', name: '{node}' };
    const step = { name: 'upgrade', object: { ...object, condition: { type: 'Upgraded' } } };
    const world = new World(drainOf({ ...spec, afterNode: [step] }), ['n1', 'n2']);
    const waits: Outcome = { kind: 'changed', message: 'it is not upgraded' };
    world.answers = ({ kind }) => (kind === 'object' ? waits : { kind: 'done' });
    world.pass(10_000);
    world.answers = ({ kind }) => (kind === 'object' ? waits : closed);
    world.pass(60_000);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'evict on-n1']);
    assert.equal(world.state().nodes[0]?.reason, 'AfterNode');
  });

  it('asks again for the steps before a node', () => {
    const object = { apiVersion: 'v1', kind: 'Node', name: '{node}' };
    const step = { name: 'backup', object: { ...object, condition: { type: 'BackedUp' } } };
    const world = started({ beforeNode: [step] });
    close(world);
    world.pass(20_000);
    world.refuses.clear();
    const notYet: Outcome = { kind: 'changed', message: 'not backed up' };
    world.answers = ({ kind }) => (kind === 'object' ? notYet : { kind: 'done' });
    world.pass(60_000);
    assert.deepEqual(world.log.slice(3), ['taint n1']);
    assert.equal(world.state().nodes[0]?.reason, 'BeforeNode');
  });

  it('another leader takes back what the first one could not', () => {
    const world = started();
    const status = { known: [knownNode('n1', 'Held')], observedGeneration: 1 };
    close(world);
    world.declare(drainOf(spec, { isGuarded: true, ...status }));
    world.start();
    world.pass(20_000);
    assert.deepEqual(world.log.slice(2), ['undo n1']);
  });

  it('is deleted in the middle: nothing is left', () => {
    const world = started();
    close(world);
    world.pass(20_000);
    world.answers = () => ({ kind: 'done' });
    world.pass(20_000);
    assert.equal(world.log.at(-1), 'taint n1');
    world.declare({ ...drainOf(spec), isGuarded: true, isDeleted: true });
    world.pass(20_000);
    assert.deepEqual(world.log.slice(-2), ['undo n1', 'let go']);
  });
});

describe('nodes for which somebody has planned maintenance', () => {
  const condition = { type: 'MaintenancePlanned', status: 'True', reason: 'Fleet', message: '' };
  const planned = { ...condition, heartbeatAt: null, transitionAt: null };
  const pool = { labels: { pool: 'blue' } };
  const required = { maintenancePlanned: 'Require', nodeSelector: { matchLabels: pool.labels } };

  it('are the only ones that a drain takes that requires it', () => {
    const nodes = [
      { name: 'n1', ...pool },
      { name: 'n2', ...pool, conditions: [planned] },
      { name: 'n3', ...pool, conditions: [{ ...planned, reason: 'NodeDrain' }] },
      { name: 'n4', conditions: [planned] },
    ];
    const world = new World(drainOf(required), nodes);
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard', 'taint n2', 'end n2']);
  });

  it('are taken when it is planned, with laterNodes Drain', () => {
    const world = new World(drainOf({ ...required, laterNodes: 'Drain' }), [
      { name: 'n1', ...pool },
    ]);
    world.pass(10_000);
    assert.deepEqual(world.state().blockers, ['no node matches its nodeSelector']);
    const n1 = world.nodes.get('n1') ?? assert.fail();
    world.showNode({ ...n1, conditions: [planned] });
    world.pass(10_000);
    assert.equal(world.log.at(-1), 'end n1');
  });
});

describe('karpenter.sh/do-not-disrupt on a node', () => {
  const heeds = { nodeAnnotations: ['karpenter.sh/do-not-disrupt'] };

  it('holds it where that is heeded', () => {
    const nodes = [{ name: 'n1', doNotDisrupt: true }, { name: 'n2' }];
    const world = new World(drainOf({ nodes: ['n1', 'n2'], heeds }), nodes);
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard', 'taint n2', 'end n2']);
    const message = 'node n1: its annotation karpenter.sh/do-not-disrupt is true';
    assert.deepEqual(world.state().blockers, [message]);
  });

  it('does not where it is not', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), [{ name: 'n1', doNotDisrupt: true }]);
    world.pass(10_000);
    assert.equal(world.state().phase, 'Drained');
  });
});

// Such an answer says nothing of what was written.
const lost: Outcome = { kind: 'failed', status: null, message: 'cut off', retryAfter: null };

describe('a NodeDrain that is deleted takes back what nobody has seen on a node', () => {
  it('that was to be cordoned', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'], cordon: 'AtStart' });
    const cluster = new SharedCluster([drain], ['n1', 'n2']);
    cluster.answers.set('cordon n2', lost);
    cluster.pass(3_000);
    cluster.done();
    cluster.remove();
    cluster.pass(10_000);
    assert.deepEqual(cluster.done(), ['undo n1', 'undo n2', 'let go']);
  });

  it('that was taken back before, and was to begin anew', () => {
    const cluster = new SharedCluster([drainOf(spec)], ['n1', 'n2']);
    cluster.answers.set('evict on-n1', { kind: 'blocked', message: 'no', retryAfter: null });
    cluster.pass(3_000);
    cluster.windows = closed;
    cluster.pass(20_000);
    assert.deepEqual(cluster.traces(), []);
    cluster.answers.set('taint n1', lost);
    cluster.windows = { kind: 'done' };
    cluster.pass(6_000);
    assert.ok(cluster.done().includes('taint n1'));
    cluster.remove();
    cluster.pass(10_000);
    assert.deepEqual(cluster.done(), ['undo n1', 'let go']);
  });
});

// Nodes of a NodeDrain are closed before the first pod goes: no pod has to go twice.
const names = ['n1', 'n2', 'n3'];
const overloaded: Outcome = { kind: 'failed', status: 500, message: 'busy', retryAfter: null };
const forbidden: Outcome = { kind: 'failed', status: 403, message: 'may not', retryAfter: null };

const begun = (spec: object): SharedCluster =>
  new SharedCluster([drainOf({ nodes: names, ...spec })], names);

describe('a NodeDrain with cordon AtStart', () => {
  const atStart = { cordon: 'AtStart' };

  it('begins with no node before the others are cordoned', () => {
    const cluster = begun(atStart);
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
    const cluster = begun(atStart);
    cluster.answers.set('cordon n2', overloaded);
    cluster.pass(30_000);
    assert.ok(!cluster.done().includes('taint n1'));
    const { phase, blockers } = cluster.state();
    assert.equal(phase, 'Blocked');
    const why = 'node n2 must be cordoned first: busy';
    assert.deepEqual(
      blockers,
      names.map((name) => `node ${name}: ${why}`),
    );
    cluster.answers.clear();
    cluster.pass(30_000);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('begins after a minute all the same', () => {
    const cluster = begun(atStart);
    cluster.answers.set('cordon n2', overloaded);
    cluster.pass(59_000);
    assert.ok(!cluster.log.includes('taint n1'));
    cluster.pass(30_000);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('leaves those alone that are cordoned', () => {
    const cluster = begun(atStart);
    cluster.change('n2', { unschedulable: true });
    cluster.pass(1_000);
    assert.deepEqual(cluster.done().slice(0, 3), ['guard', 'cordon n1', 'cordon n3']);
  });

  it('does not fight who uncordons one, under the next leader neither', () => {
    const cluster = begun(atStart);
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
    const cluster = begun(atStart);
    cluster.answers.set('cordon n3', forbidden);
    cluster.pass(1_000);
    assert.ok(cluster.log.includes('evict on-n1'));
  });

  it('waits no more for a node that is gone', () => {
    const cluster = begun(atStart);
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
    const cluster = begun(together);
    cluster.slow.add('taint n2');
    cluster.pass(10_000);
    assert.deepEqual(cluster.done(), ['guard', 'taint n1', 'taint n2']);
    cluster.answer();
    cluster.pass(10_000);
    assert.deepEqual(cluster.done().slice(0, 2), ['evict on-n1', 'evict on-n2']);
    assert.equal(cluster.state().phase, 'Drained');
  });

  it('does not wait for one that cannot be', () => {
    const cluster = begun(together);
    cluster.answers.set('taint n2', overloaded);
    cluster.pass(1_000);
    assert.ok(cluster.log.includes('evict on-n1'));
  });
});

// Writes of a NodeDrain on a node that is another one before the answer comes.
const undo = { kind: 'node', nodeName: 'n1', write: { kind: 'undo' } } as const;
const cordon = { kind: 'node', nodeName: 'n1', write: { kind: 'cordon' } } as const;
const failed = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;

/** A write that is under way while its node goes and another one comes under the name. */
function outrun(): { readonly writes: DrainWrites; readonly take: () => readonly string[] } {
  const writes = new DrainWrites('write');
  const take = (): readonly string[] => writes.take(0, () => true).map(({ id }) => id);
  writes.want(0, { ...undo });
  assert.deepEqual(take(), ['write-1']);
  writes.forget('n1');
  return { writes, take };
}

describe('the answer about a node that is gone', () => {
  for (const outcome of [{ kind: 'done' }, failed] as const) {
    it(`does not count for another one of its name: ${outcome.kind}`, () => {
      const { writes, take } = outrun();
      writes.want(0, { ...undo });
      // One write of a name at a time: the second could be overtaken by the first.
      assert.deepEqual(take(), []);
      assert.equal(writes.isUndoing('n1'), true);
      writes.settle(0, 'write-1', outcome);
      assert.equal(writes.isUndoing('n1'), true);
      assert.deepEqual(take(), ['write-2']);
      writes.settle(0, 'write-2', { kind: 'done' });
      assert.equal(writes.isUndoing('n1'), false);
    });
  }

  it('counts for what is wanted otherwise as little', () => {
    const { writes, take } = outrun();
    writes.want(0, cordon);
    writes.settle(0, 'write-1', { kind: 'done' });
    assert.deepEqual(take(), ['write-2']);
  });

  it('leads to nothing where nobody wants anything of the next one', () => {
    const { writes, take } = outrun();
    writes.settle(0, 'write-1', failed);
    assert.equal(writes.isUndoing('n1'), false);
    assert.deepEqual(take(), []);
  });
});
