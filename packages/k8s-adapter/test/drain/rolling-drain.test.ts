// Sixty nodes are drained in three waves while budgets block, leaders die and the API server is away.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RollingStory } from './rolling-drain.ts';

/** Further ones: SEEDS=3,4,5. */
const seeds = (process.env.SEEDS ?? '1').split(',').map(Number);

describe('a rolling drain of sixty nodes', () => {
  for (const seed of seeds) {
    it(`ends, breaks no budget, leaves nothing behind, and its status is true: seed ${seed}`, () => {
      const { faults, took, crashes, looks } = new RollingStory(seed).run();
      if (process.env.SHOW === '1')
        console.log({ seed, took, crashes, looks, faults: faults.length });
      assert.deepEqual(faults.slice(0, 5), []);
      assert.ok(crashes >= 2, `${crashes} leaders were killed`);
      assert.ok(looks > 60);
    });
  }
});
