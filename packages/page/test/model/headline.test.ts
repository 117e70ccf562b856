import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { headlineOf } from '../../src/model/headline.ts';
import { run, simulation, totals } from '../world/simulation.ts';

const down = { downMax: 30, downWorstWanted: 30, downSeconds: 620, podMinutesLost: 9, overAt: 700 };
const less = { ...down, downMax: 3, downSeconds: 6 };

function withEvictions(name: string, evictions: number, of = totals('web', down)) {
  const one = run({ name, summary: [of] });
  return { ...one, summary: { ...one.summary, evictions } };
}

describe('the headline', () => {
  for (const [what, input, expected] of [
    [
      'of one run',
      simulation(withEvictions('A', 1)),
      ['10m20s  | 30 of 30 pods down at once | 1 eviction'],
    ],
    [
      'of two',
      simulation(withEvictions('A', 81), withEvictions('B', 11, totals('web', less))),
      [
        'A 10m20s  | 30 of 30 pods down at once | 81 evictions',
        'B 6s −10m14s | 3 of 30 pods down at once | 11 evictions',
      ],
    ],
    [
      'of three, of which one has no harm and one is not over',
      simulation(
        withEvictions('A', 2),
        withEvictions('B', 0, totals('web')),
        withEvictions('C', 3, totals('web', { ...down, overAt: null })),
      ),
      [
        'A 10m20s  | 30 of 30 pods down at once | 2 evictions',
        'B 0s −10m20s | 0 of 3 pods down | 0 evictions',
        'C 10m20s  | 30 of 30 pods down, not over at the end | 3 evictions',
      ],
    ],
    [
      'of a workload that one run does not have',
      simulation(run({ name: 'A' }), withEvictions('B', 0)),
      [
        'A 0s  | 0 pods: not there | 0 evictions',
        'B 10m20s  | 30 of 30 pods down at once | 0 evictions',
      ],
    ],
    ['of no harm', simulation(withEvictions('A', 5, totals('web'))), []],
    ['of an empty cluster', simulation(run()), []],
  ] as const) {
    it(what, () => {
      const figures = headlineOf(input).figures.map(({ variant, time, difference, details }) => {
        const name = variant === null ? '' : `${variant} `;
        return [`${name}${time} ${difference}`, ...details.map((pair) => pair.join(' '))].join(
          ' | ',
        );
      });
      assert.deepEqual(figures, expected);
    });
  }

  it('says what the times are of', () => {
    const { caption } = headlineOf(simulation(withEvictions('A', 1)));
    assert.equal(caption, 'Time with pods of shop/web down');
  });
});
