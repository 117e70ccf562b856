import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { playSeed, storyOf } from './play.ts';
import type { StoryName } from './plots.ts';
import { type Planted, sabotages } from './sabotages.ts';
import type { Outcome } from './stage.ts';
import { runSeed } from './story.ts';

// A few stories as part of every test run; thousands more: npm run seeds -- --count 5000

/** What the story of each seed breaks that nobody has sabotaged; some are asked for several times. */
const broken = new Map<string, Outcome['violations']>();

function brokenBy(story: StoryName, seed: number): Outcome['violations'] {
  const key = `${story} ${seed}`;
  const violations = broken.get(key) ?? runSeed(story, seed).violations;
  broken.set(key, violations);
  return violations;
}

const seeds = Array.from({ length: 36 }, (_, index) => index + 1);

describe('stories drawn from seeds', () => {
  for (const seed of seeds) {
    it(`nothing is violated in seed ${seed}`, () => {
      const story = storyOf(seed);
      const violations = brokenBy(story, seed);
      const replay = `replay: npm run seeds -- --seed ${seed} --count 1 --story ${story} --verbose`;
      assert.deepEqual(violations, [], replay);
    });
  }

  it('a seed tells the same story each time', () => {
    assert.deepEqual(playSeed(8, null), playSeed(8, null));
  });

  it('the controller has something to do in them', () => {
    assert.ok(runSeed('evictions', 4).removals > 0);
  });
});

describe('the checkers find a controller that', () => {
  for (const [name, { story, seed, breaks, sabotage }] of Object.entries<Planted>(sabotages)) {
    it(`${name}, by the story of seed ${seed}`, () => {
      const found = runSeed(story, seed, sabotage).violations.map(({ invariant }) => invariant);
      assert.ok(
        found.some((invariant) => breaks.includes(invariant)),
        `found: ${found.join(', ') || 'nothing'}`,
      );
      assert.deepEqual(brokenBy(story, seed), [], 'the seed passes without it');
    });
  }

  it('all of which the docs count', () => {
    const page = readFileSync(new URL('../../../../docs/seeds.md', import.meta.url), 'utf8');
    const { length } = Object.keys(sabotages);
    assert.match(page, new RegExp(`The tests plant ${length} faults in the controller`));
  });
});
