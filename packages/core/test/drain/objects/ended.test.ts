// What NodeDrains that have ended cost: events that do not concern them are not handed to them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod } from '@taintmgr/core';
import { drainOf, World } from './world.ts';

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
