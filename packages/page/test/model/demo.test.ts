import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DemoSide, DemoState } from '../../src/demo.ts';
import { demoSentence, heldText, nextText } from '../../src/model/demo.ts';

const calm: DemoSide = {
  ...{ rules: 'taintmgr', zones: [], workloads: [], down: 0, downMax: 0, podMinutesLost: 0 },
  ...{ evictions: 0, held: 0, refused: 0, next: null, curve: [] },
};

function stateOf(upstream: Partial<DemoSide>, ours: Partial<DemoSide>, presses = 1): DemoState {
  const pressed = Array.from({ length: presses }, () => ({ at: 1, text: 'A zone dies' }));
  const sides = [
    { ...calm, rules: 'kube-controller-manager', ...upstream } as const,
    { ...calm, ...ours },
  ];
  return {
    ...{ round: 1, now: 100, speed: 60, speeds: [60], isPaused: false, isOver: false },
    ...{ acts: [], pressed, look: '', sides },
  };
}

const sentences: readonly (readonly [name: string, DemoState, string])[] = [
  [
    'at the beginning',
    stateOf({}, {}, 0),
    'Two simulated clusters, the same accident, two sets of rules.',
  ],
  ['while nothing is down', stateOf({}, {}), 'All pods serve on both sides.'],
  [
    'while pods are down',
    stateOf({ down: 45, downMax: 45 }, { down: 0, downMax: 6 }),
    'Pods down now: 45 with kube-controller-manager, 0 with taintmgr.',
  ],
  [
    'after that',
    stateOf({ downMax: 45 }, { downMax: 6 }),
    'All pods serve again. Most pods down at once: 45 with kube-controller-manager, 6 with taintmgr.',
  ],
];

describe('the demo', () => {
  for (const [name, state, expected] of sentences) {
    it(`says ${name}: ${expected}`, () => assert.equal(demoSentence(state), expected));
  }

  it('counts down to who leaves next', () => {
    const next = { pod: 'shop/web-1', node: 'a-1', dueAt: 375.2, pods: 15 };
    assert.equal(nextText({ ...calm, next }, 100), '15 pods, the first in 4m36s');
    assert.equal(nextText({ ...calm, next: { ...next, pods: 1 } }, 380), '1 pod, the first now');
    assert.equal(nextText(calm, 100), 'none');
  });

  it('says what holds pods', () => {
    assert.equal(heldText(calm), '');
    assert.equal(
      heldText({ ...calm, held: 35, refused: 1 }),
      '35 pods held by the limit, 1 eviction refused by budgets',
    );
  });
});
