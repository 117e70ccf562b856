import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@taintmgr/sim-cluster';
import { World } from './world/policy-world.ts';

// What the checkers find of a client that evicts beside pauses of the cluster.

const kind = 'evictionpauses';
const held = 'evicts in a pause';
const early = 'before its deadline';

/** A minute after the pause came the client reads all there is and evicts. */
const cases: readonly (readonly [name: string, pause: Json, found: readonly string[]])[] = [
  ['that everything is held', {}, [held]],
  ['that the pod of a namespace is held', { scope: { namespaces: ['default'] } }, [held]],
  ['nothing where another namespace is held', { scope: { namespaces: ['other'] } }, []],
  ['that a taint is held', { scope: { taintKeys: ['bad'] } }, [held]],
  ['nothing where another taint is held', { scope: { taintKeys: ['worse'] } }, []],
  ['nothing where other nodes are held', { scope: { nodeSelector: labels('a') } }, []],
  ['nothing where another zone is held', { scope: { zones: ['r/a'] } }, []],
  ['nothing where only readiness is held', { deadlines: false, readiness: true }, []],
  ['nothing once its time is over', { until: '2026-01-01T00:00:30Z' }, []],
  ['that its time is not over', { until: '2026-01-01T00:02:00Z' }, [held]],
  ['that it was not read', { deadlines: false, newer: true }, [held]],
];

function labels(team: string): Json {
  return { matchLabels: { team } };
}

/** With policies that let pods go a minute after their taint came. */
function patientWorld(): World {
  const world = new World();
  const spec = { action: 'Delete', defaultTolerationSeconds: 60 };
  world.put('evictionpolicies', 'patient', spec);
  return world;
}

describe('the checkers of pauses find', () => {
  for (const [name, pause, found] of cases) {
    it(name, () => {
      const world = new World();
      world.put(kind, 'p', pause);
      world.pass(60_000);
      world.read();
      world.evict('a');
      assert.deepEqual(world.found, found);
    });
  }

  it('that nobody has read the pauses', () => {
    const world = new World();
    world.read('nodes', 'pods', 'policies', 'namespaces');
    world.evict('a');
    assert.deepEqual(world.found, ['evicts without the policies']);
  });

  for (const [what, passed, found] of [
    ['that the time of a pause was not given back', 40_000, [early]],
    ['nothing once it was', 81_000, []],
  ] as const) {
    it(what, () => {
      const world = patientWorld();
      world.put(kind, 'p', {});
      world.pass(10_000);
      world.read();
      world.pass(20_000);
      world.delete(kind, 'p');
      world.pass(passed);
      world.read();
      world.evict('a');
      assert.deepEqual(world.found, found);
    });
  }

  for (const [what, start, found] of [
    ['nothing where a pause follows another in the same second', '00:00:21.000', []],
    ['that less time was given back than that', '00:00:20.000', ['kept start too early']],
  ] as const) {
    it(what, () => {
      const world = new World();
      world.put(kind, 'first', {});
      world.read();
      world.pass(15_669);
      world.delete(kind, 'first');
      // As the API dates it, it is there since that second began.
      world.put(kind, 'second', {});
      world.pass(500);
      world.read();
      world.pass(2000);
      world.keepStart(`2026-01-01T${start}Z`);
      assert.deepEqual(world.found, found);
    });
  }

  it('nothing of a pause that was over before the client began', () => {
    const world = patientWorld();
    world.put(kind, 'p', {});
    world.pass(30_000);
    world.delete(kind, 'p');
    world.pass(30_000);
    world.restart();
    world.read();
    world.evict('a');
    assert.deepEqual(world.found, []);
  });
});
