import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { besides, evictionsText, sentenceOf, wholeOf, worstOf } from '../../src/model/sentence.ts';
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
    ['nothing is down', simulation(run({ summary: [totals('web')] })), 'No pod is down.'],
    [
      'something is down, and over',
      simulation(run({ events, summary: [totals('web', down)] })),
      'Pods of shop/web are down for 6m39s after “stop zone-b” at 0:02:00, at most 10 of 30 at once.',
    ],
    [
      'it is not over',
      simulation(run({ summary: [totals('db', { ...down, kind: 'StatefulSet', overAt: null })] })),
      'Pods of shop/db (StatefulSet) are down for 6m39s, at most 10 of 30 at once, and not over at the end.',
    ],
    [
      'there are variants',
      simulation(
        run({ name: 'A', events, summary: [totals('web', down)] }),
        run({ name: 'B', summary: [totals('web', { ...down, downSeconds: 341, overAt: null })] }),
        run({ name: 'C', summary: [totals('web')] }),
      ),
      'Pods of shop/web are down after “stop zone-b” at 0:02:00: 6m39s with A, ' +
        '5m41s with B (−58s), not over at the end, never with C.',
    ],
  ] as const) {
    it(`says so when ${name}`, () => assert.equal(sentenceOf(input), expected));
  }

  it('is about what is down, if others are only evicted', () => {
    const agent = totals('agent', { kind: 'DaemonSet', downMax: 1, podMinutesLost: 5 });
    const input = simulation(run({ summary: [totals('web', { evictions: 3 }), agent] }));
    assert.equal(worstOf(input)?.name, 'agent');
  });

  it('leaves out the one node of a taint that goes from node to node', () => {
    const text = 'taint all nodes: a=b:NoExecute (node-3)';
    const told = sentenceOf(
      simulation(run({ events: [{ at: 1, text, line: 1 }], summary: [totals('web', down)] })),
    );
    assert.match(told, /after “taint all nodes: a=b:NoExecute” at/);
  });

  it('counts evictions of each run where no pod is down', () => {
    const evicted = (name: string, evictions: number) => {
      const of = run({ name });
      return { ...of, summary: { ...of.summary, evictions } };
    };
    assert.equal(evictionsText(simulation(evicted('A', 1))), '1 eviction.');
    const both = simulation(evicted('A', 0), evicted('B', 3));
    assert.equal(evictionsText(both), '0 evictions with A, 3 with B.');
  });

  it('has the names of what else is down in a run, the worst first', () => {
    const own = [
      totals('web', down),
      totals('api', { downMax: 1, podMinutesLost: 1 }),
      totals('ok'),
    ];
    const later = run({ summary: [totals('db', { downMax: 1, podMinutesLost: 2 })] });
    assert.deepEqual(besides(simulation(run({ summary: own }), later)), ['shop/db', 'shop/api']);
  });

  it('says what all have lost together where they are many, of each variant', () => {
    const some = (count: number) =>
      Array.from({ length: count }, (_, index) => totals(`w${index}`, { downMax: 1 }));
    assert.equal(wholeOf(simulation(run({ summary: some(10) }))), '');
    const lost = { workloads: 11, downMax: 9, podMinutesLost: 80.5, evictions: 1, unplaced: 2 };
    const many = run({ name: 'A', summary: [...some(11), totals('calm')] });
    const one = { ...many, summary: { ...many.summary, totals: lost } };
    assert.equal(
      wholeOf(simulation(one)),
      '11 of 12 workloads are affected: at most 9 pods down at once, 81 pod-minutes lost, 1 evictions, 2 pods without room.',
    );
    assert.equal(
      wholeOf(simulation(one, { ...many, name: 'B' })),
      '11 of 12 workloads are affected: at most 9 → 0 pods down at once, 81 → 0 pod-minutes lost, 1 → 0 evictions, 2 → 0 pods without room.',
    );
  });
});
