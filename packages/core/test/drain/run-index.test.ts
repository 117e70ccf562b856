// What NodeDrains that have ended cost: events that do not concern them are not handed to them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, makePod } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

/** An event that counts how often somebody looks at it, or at what it is about. */
class Watched {
  looks = 0;

  of<T extends object>(value: T): T {
    return new Proxy(value, {
      get: (target, name) => {
        this.looks += 1;
        const found: unknown = Reflect.get(target, name);
        return typeof found === 'object' && found !== null ? this.of(found) : found;
      },
    });
  }
}

function worldOf(count: number): World {
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  const drains = names.map((name) => drainOf({ nodes: [name] }, { name, uid: `u-${name}` }));
  const world = new World(drains, [...names, 'other']);
  world.pass(60_000);
  for (const name of names) assert.equal(world.state(name).phase, 'Drained');
  return world;
}

describe('a thousand NodeDrains that have ended', () => {
  const world = worldOf(1000);

  it('do not look at a pod that concerns none of them', () => {
    const pod = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });
    const watched = new Watched();
    world.tell(watched.of({ kind: 'podUpsert', pod }));
    assert.ok(watched.looks > 0 && watched.looks <= 120, `${watched.looks} looks`);
  });

  it('look neither at a node that concerns none of them, nor at a tick', () => {
    const node = world.nodes.get('other') ?? assert.fail();
    const watched = new Watched();
    world.tell(watched.of({ kind: 'nodeUpsert', node }));
    world.tell(watched.of({ kind: 'tick' }));
    assert.ok(watched.looks > 0 && watched.looks <= 120, `${watched.looks} looks`);
  });

  it('are undone when they are deleted', () => {
    const world = worldOf(3);
    world.log.length = 0;
    world.declare({
      ...drainOf({ nodes: ['n1'] }, { name: 'n1', uid: 'u-n1' }),
      isGuarded: true,
      isDeleted: true,
    });
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'let go']);
  });

  it('begin anew where a spec says so', () => {
    const world = worldOf(3);
    world.log.length = 0;
    const named = { name: 'n1', uid: 'u-n1', generation: 2 };
    world.declare({ ...drainOf({ nodes: ['n1', 'other'] }, named), isGuarded: true });
    world.pass(10_000);
    assert.deepEqual(world.log, ['taint other', 'end n1', 'evict on-other', 'end other']);
  });

  it('hear that a node of theirs is gone', () => {
    const world = worldOf(3);
    world.tell({ kind: 'nodeDelete', name: 'n1' });
    world.pass(10_000);
    assert.equal(world.state('n1').phase, 'Drained');
  });
});

describe('ttlSecondsAfterFinished', () => {
  const spec = { nodes: ['n1'], ttlSecondsAfterFinished: 600 };

  it('deletes a drain so long after its end, which undoes it', () => {
    const world = new World(drainOf(spec), ['n1']);
    world.pass(590_000);
    assert.equal(world.state().phase, 'Drained');
    assert.ok(!world.log.includes('delete'));
    world.pass(20_000);
    assert.deepEqual(world.log.slice(-3), ['delete', 'undo n1', 'let go']);
  });

  it('does so where pods have come to its nodes since, and gone, and nothing else happens', () => {
    for (const goes of [true, false]) {
      const world = new World(drainOf(spec), ['n1']);
      world.pass(300_000);
      world.show({ name: 'late', nodeName: 'n1' });
      if (goes) world.remove('shop/late');
      world.pass(310_000);
      assert.ok(world.log.includes('delete'), `goes: ${goes}`);
    }
  });

  it('counts from the end over a failover, and deletes what has failed too', () => {
    const world = new World(drainOf({ ...spec, timeouts: { node: '1m' } }), ['n1']);
    world.refuses.add('on-n1');
    world.pass(300_000);
    assert.equal(world.state().phase, 'Failed');
    world.failOver();
    world.pass(355_000);
    assert.ok(!world.log.includes('delete'));
    world.pass(10_000);
    assert.ok(world.log.includes('delete'));
  });

  it('says why a drain could not be deleted, and tries it again', () => {
    const world = new World(drainOf(spec), ['n1']);
    world.deletions = { kind: 'failed', status: 403, message: 'no right', retryAfter: null };
    world.pass(620_000);
    assert.deepEqual(world.state().blockers, ['it is to be deleted: no right']);
    world.deletions = { kind: 'done' };
    world.pass(20_000);
    assert.equal(world.log.at(-1), 'let go');
  });

  it('waits for an answer, and does nothing meanwhile', () => {
    const world = new World(drainOf(spec), ['n1']);
    world.deletions = null;
    world.pass(3_600_000);
    assert.deepEqual(
      world.log.filter((line) => line === 'delete'),
      ['delete'],
    );
    assert.equal(world.engine.nextWake(), null);
  });

  it('looks at nothing until then, however many have ended', () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const drains = names.map((name) => drainOf({ ...spec, nodes: [name] }, { name, uid: name }));
    const world = new World(drains, [...names, 'other']);
    world.pass(60_000);
    const pod = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });
    const watched = new Watched();
    world.tell(watched.of({ kind: 'podUpsert', pod }));
    assert.ok(watched.looks > 0 && watched.looks <= 120, `${watched.looks} looks`);
  });

  it('does not delete a drain that was edited, or that still works', () => {
    const world = new World(drainOf({ ...spec, ttlSecondsAfterFinished: 0 }), ['n1', 'n2']);
    world.refuses.add('on-n1');
    world.pass(60_000);
    assert.equal(world.state().phase, 'Blocked');
    assert.ok(!world.log.includes('delete'));
    world.declare({ ...drainOf({ nodes: ['n1'] }, { generation: 2 }), isGuarded: true });
    world.refuses.clear();
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
    assert.ok(!world.log.includes('delete'));
  });
});

describe('NodeDrains that are at work', () => {
  const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
  const watched = new Watched();
  const drains = names.map((name) => {
    const drain = drainOf({ nodes: [name] }, { name, uid: `u-${name}` });
    return watched.of({ ...drain, isGuarded: true });
  });
  const world = new World(drains, [...names, 'other']);
  for (const name of names) world.refuses.add(`on-${name}`);
  world.pass(2_000);
  const web = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });

  for (const [what, event] of [
    ['a pod', { kind: 'podUpsert', pod: web }],
    ['its end', { kind: 'podDelete', uid: web.uid }],
    ['a node', { kind: 'nodeUpsert', node: makeNode({ name: 'other', labels: { a: 'b' } }) }],
    ['an answer', { kind: 'result', id: 'c1', outcome: { kind: 'done' } }],
  ] as const) {
    it(`cost nothing for ${what} that concerns none of them`, () => {
      assert.equal(world.state('n7').phase, 'Blocked');
      world.engine.nextWake();
      watched.looks = 0;
      world.tell(event);
      world.engine.nextWake();
      assert.equal(watched.looks, 0);
    });
  }

  it('hear of the pods of their own nodes', () => {
    world.refuses.clear();
    world.pass(60_000);
    for (const name of names) assert.equal(world.state(name).phase, 'Drained');
  });
});
