import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { playCase, predictionCases, type Score, scoreOf } from '../../../src/prediction/runs.ts';
import { drawScenario } from '../../../src/prediction/scenario.ts';

// What `explain` foretells, against what then happens, under each evictor.

const podsMin = 45;
/** Pods that go within the run under limits, which let others wait for longer. */
const limitedMin = 30;
/** Of a drawn scenario many pods go at the very moment of a taint. */
const drawnMin = 25;

function share({ right, counted }: Score): number {
  return right / counted;
}

describe('predictions', () => {
  for (const one of predictionCases) {
    it(one.name, async () => {
      const { stories, named } = await playCase(one);
      const [last, first] = [scoreOf(stories, 'last'), scoreOf(stories, 'first')];
      const countedMin = one.name.includes('limit') ? limitedMin : podsMin - 6;
      assert.ok(stories.length >= countedMin && last.counted >= countedMin, `${last.counted}`);
      assert.deepEqual(named, [one.name.replace(/[ ,].*$/, '')]);
      assert.ok(share(last) >= one.shareMin.last, JSON.stringify(last));
      assert.ok(share(first) >= one.shareMin.first, JSON.stringify(first));
      if (!one.circumstances.forgets) assert.equal(last.keepWrong, 0);
    });
  }
});

/** One for each kind of evictor. */
const drawnFor = [
  'taintmgr-controller, policies',
  'kube-controller-manager',
  'kube-controller-manager, restarted',
];

/** In this one pods come in the place of those that went, and a share of them counts. */
const replacedSeed = 6;

const drawn = [
  ...[2, 3].flatMap((seed) => drawnFor.map((name) => [seed, name] as const)),
  [replacedSeed, 'taintmgr-controller, limits with windows'] as const,
];

describe('predictions of drawn scenarios', () => {
  for (const [seed, named] of drawn) {
    for (const one of predictionCases.filter(({ name }) => name === named)) {
      it(`${one.name}, seed ${seed}`, async () => {
        const { stories } = await playCase(one, drawScenario(seed));
        const last = scoreOf(stories, 'last');
        assert.ok(last.counted >= drawnMin && last.evicted >= drawnMin / 2, JSON.stringify(last));
        assert.ok(share(last) >= one.shareMin.last, JSON.stringify(last));
        assert.equal(last.keepWrong, 0);
      });
    }
  }
});
