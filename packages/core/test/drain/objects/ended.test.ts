// What NodeDrains that have ended cost: events that do not concern them are not handed to them.
import assert from 'node:assert/strict';
import inspector from 'node:inspector/promises';
import { describe, it } from 'node:test';
import { makePod } from '@taintmgr/core';
import { drainOf, World } from './world.ts';

/** How many calls of functions of the engine it takes. */
async function callsOf(what: () => void): Promise<number> {
  const session = new inspector.Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  what();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ url }) => url.includes('/core/src/'))
    .flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0]?.count ?? 0))
    .reduce((sum, count) => sum + count, 0);
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

  it('cost a pod that concerns none of them next to nothing', async () => {
    const pod = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });
    const calls = await callsOf(() => {
      world.tell({ kind: 'podUpsert', pod });
      world.engine.nextWake();
    });
    assert.ok(calls > 0 && calls <= 120, `${calls} calls`);
  });

  it('cost a node that concerns none of them, and a tick, as little', async () => {
    const node = world.nodes.get('other') ?? assert.fail();
    const calls = await callsOf(() => {
      world.tell({ kind: 'nodeUpsert', node });
      world.tell({ kind: 'tick' });
      world.engine.nextWake();
    });
    assert.ok(calls > 0 && calls <= 300, `${calls} calls`);
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
