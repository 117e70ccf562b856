import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { besides, sentenceOf, wholeOf } from '../../src/model/sentence.ts';
import { run, simulation, totals } from '../world/simulation.ts';

const down = {
  ...{ downWorstWanted: 30, downMax: 10, downSeconds: 399, podMinutesLost: 61, overAt: 519 },
  longestGap: { from: 120, seconds: 399 },
};
const events = [
  { at: 0, text: 'set the budget', line: 1 },
  { at: 120, text: 'stop zone-b', line: 2 },
  { at: 500, text: 'start zone-b', line: 3 },
];

describe('the sentence of the page', () => {
  for (const [name, input, expected] of [
    ['nobody is there', simulation(run()), 'There is nothing in this cluster that could be down.'],
    [
      'nothing is down',
      simulation(run({ summary: [totals('web')] })),
      'No pod of shop/web is ever down; 0 evictions.',
    ],
    [
      'something is down, and over',
      simulation(run({ events, summary: [totals('web', down)] })),
      'shop/web is partly down for 6m39s, at most 10 of 30 pods, after “stop zone-b” at 0:02:00.',
    ],
    [
      'it is not over',
      simulation(run({ summary: [totals('db', { ...down, kind: 'StatefulSet', overAt: null })] })),
      'shop/db (StatefulSet) is partly down for 6m39s, at most 10 of 30 pods, and not over at the end.',
    ],
    [
      'nothing of it is left',
      simulation(run({ summary: [totals('web', { ...down, downMax: 30 })] })),
      'shop/web is down for 6m39s, at most 30 of 30 pods.',
    ],
    [
      'there are variants',
      simulation(
        run({ name: 'A', summary: [totals('web', { ...down, longestGap: null })] }),
        run({ name: 'B', summary: [totals('web', { ...down, downSeconds: 341 })] }),
        run({ name: 'C', summary: [totals('web')] }),
      ),
      'A: shop/web is partly down for 6m39s, at most 10 of 30 pods; B: 5m41s (−58s), at most 10 of 30; C: never.',
    ],
  ] as const) {
    it(`says so when ${name}`, () => assert.equal(sentenceOf(input), expected));
  }

  it('names what else is down', () => {
    const summary = [
      totals('web', down),
      totals('api', { downMax: 1, downSeconds: 4 }),
      totals('ok'),
    ];
    assert.equal(besides(simulation(run({ summary }))), 'Also down: shop/api 1 of 3 for 4s.');
  });

  const some = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      return totals(`w${index}`, { downMax: 1, downSeconds: 4, podMinutesLost: 90 - index });
    });

  it('names three of many that are down, and counts the others', () => {
    const told = (count: number) => besides(simulation(run({ summary: some(count) })));
    assert.equal(told(10).split(';').length, 9);
    const three = ['w1', 'w2', 'w3'].map((name) => `shop/${name} 1 of 3 for 4s`).join('; ');
    assert.equal(told(11), `Also down: ${three} and 7 more.`);
  });

  it('says what all have lost together where they are many, of each variant', () => {
    assert.equal(wholeOf(simulation(run({ summary: some(10) }))), '');
    const lost = { workloads: 11, downMax: 9, podMinutesLost: 80.5, evictions: 1, unplaced: 2 };
    const many = run({ name: 'A', summary: [...some(11), totals('calm')] });
    const one = { ...many, summary: { ...many.summary, totals: lost } };
    const whole = 'at most 9 pods down at once, 81 pod-minutes lost, 1 eviction, 2 without room';
    assert.equal(wholeOf(simulation(one)), `11 of 12 workloads are affected: ${whole}.`);
    assert.equal(
      wholeOf(simulation(one, { ...many, name: 'B' })),
      `11 of 12 workloads are affected: A: ${whole}; B: at most 0 pods down at once, 0 pod-minutes lost, 0 evictions.`,
    );
  });
});
