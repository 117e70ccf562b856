import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Planted, playStory } from './story.ts';

// Takeover by seed: kube-controller-manager's stand-in beside us, restarts of both, heartbeats that fail,
// policies and the TaintManager deleted. What is wrong is found by what the API server was asked.

describe('stories of takeover', () => {
  for (let seed = 1; seed <= 10; seed++) {
    it(`seed ${seed}`, () => assert.deepEqual(playStory(seed), []));
  }
});

const planted: readonly (readonly [
  fault: string,
  seed: number,
  planted: Planted,
  found: RegExp,
])[] = [
  ['evicts everywhere', 22, { config: { takeover: false } }, /which is not taken over/],
  ['says that it does not decide', 1, { disabled: true }, /though the heartbeat was fresh/],
  ['has a heartbeat that outlives it', 2, { undead: true }, /though nobody decides any more/],
  ['does not say why it holds pods', 12, { mute: true }, /nothing says why/],
  ['does not install its policies', 4, { bare: true }, /were not installed again/],
];

describe('a controller with takeover that', () => {
  for (const [fault, seed, what, found] of planted) {
    it(`${fault} is found out`, () => {
      const faults = playStory(seed, what);
      assert.ok(
        faults.some((text) => found.test(text)),
        faults.join('; '),
      );
    });
  }
});
