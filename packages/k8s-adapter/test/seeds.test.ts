import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeSabotages } from './seeds/node-sabotage.ts';
import { runNodeSeed } from './seeds/node-story.ts';
import { sabotages } from './seeds/sabotage.ts';
import { runSeed } from './seeds/world.ts';

// A few stories as part of every test run; thousands more: npm run seeds -- --count 5000

const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
const searchMax = 60;

describe('stories drawn from seeds', () => {
  for (const seed of seeds) {
    it(`nothing is violated in seed ${seed}`, () => {
      const { violations } = runSeed(seed);
      const replay = `replay: npm run seeds -- --seed ${seed} --count 1 --verbose`;
      assert.deepEqual(violations, [], replay);
    });
  }

  it('a seed tells the same story each time', () => {
    assert.deepEqual(runSeed(5).transcript, runSeed(5).transcript);
  });

  it('the controller has something to do in them', () => {
    assert.ok(runSeed(5).removals > 0);
  });
});

describe('the checkers find a controller that', () => {
  for (const [name, { breaks, from, sabotage }] of Object.entries(sabotages)) {
    it(name, () => {
      const found = firstSeed(from, (seed) =>
        runSeed(seed, sabotage).violations.some(({ invariant }) => breaks.includes(invariant)),
      );
      assert.notEqual(found, null, `not within ${searchMax} seeds`);
    });
  }
});

describe('stories of nodes drawn from seeds', () => {
  for (const seed of seeds) {
    it(`nothing is violated in seed ${seed}`, () => {
      const { violations } = runNodeSeed(seed);
      const replay = `replay: npm run seeds -- --seed ${seed} --count 1 --story nodes --verbose`;
      assert.deepEqual(violations, [], replay);
    });
  }
});

describe('the checkers find a node lifecycle controller that', () => {
  for (const [name, { breaks, sabotage }] of Object.entries(nodeSabotages)) {
    it(name, () => {
      const found = firstSeed(1, (seed) =>
        runNodeSeed(seed, sabotage).violations.some(({ invariant }) => breaks.includes(invariant)),
      );
      assert.notEqual(found, null, `not within ${searchMax} seeds`);
    });
  }
});

function firstSeed(from: number, test: (seed: number) => boolean): number | null {
  for (let seed = from; seed < from + searchMax; seed++) if (test(seed)) return seed;
  return null;
}
