import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { World } from './world/policy-world.ts';

// What the checkers find of a client that evicts beside a drain.

const beside = 'evicts beside a drain';

const cases: readonly (readonly [
  name: string,
  play: (world: World) => void,
  found: readonly string[],
])[] = [
  ['that its pods are left to it', (world) => world.pass(30_000), [beside]],
  ['nothing a minute after its last sign of life', (world) => world.pass(61_000), []],
  [
    'that it gave another sign of life',
    (world) => {
      world.pass(40_000);
      world.mark('2');
      world.pass(21_000);
      world.read();
    },
    [beside],
  ],
  [
    'that it gave another sign of life, which the client sees when it looks',
    (world) => {
      world.pass(59_000);
      world.mark('2');
      world.pass(2000);
    },
    [beside],
  ],
  [
    'that a client that starts anew gives it no time',
    (world) => {
      world.pass(50_000);
      world.restart();
      world.read();
      world.pass(11_000);
    },
    [beside],
  ],
];

describe('the checkers of drains find', () => {
  for (const [name, play, found] of cases) {
    it(name, () => {
      const world = new World();
      world.mark('1');
      world.pass(1000);
      world.read();
      play(world);
      world.evictAfterLook('a');
      assert.deepEqual(world.found, found);
    });
  }

  it('that nobody looked whether it is over', () => {
    const world = new World();
    world.mark('1');
    world.pass(1000);
    world.read();
    world.pass(61_000);
    world.read();
    world.evict('a');
    assert.deepEqual(world.found, [beside]);
  });

  it('that budgets were not asked for long enough since the pod was due, with the drain or without', () => {
    for (const [deleteAfter, found] of [
      ['60s', []],
      ['90s', ['deletes too early']],
    ] as const) {
      const world = new World();
      world.put('evictionpolicies', 'all', { action: 'EvictThenDelete', deleteAfter });
      world.mark('1');
      world.pass(1000);
      world.read();
      world.pass(61_000);
      world.evictAfterLook('a');
      assert.deepEqual(world.found, found);
    }
  });
});
