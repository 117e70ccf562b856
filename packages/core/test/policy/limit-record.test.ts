// What is written of how many pods there were: shorter, and never more than there were.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coarsenedSizes } from '../../src/policy/limit-record.ts';
import { fc } from '../fast-check.ts';

type Sizes = readonly (readonly [at: number, of: number])[];

/** How a limit reads them: the least of those up to the first within the window. */
function leastFrom(sizes: Sizes, from: number): number {
  const next = sizes.findIndex(([at]) => at > from);
  return Math.min(...(next < 0 ? sizes : sizes.slice(0, next + 1)).map(([, of]) => of));
}

describe('sizes that are written', () => {
  const cases: readonly [string, Sizes, Sizes][] = [
    ['none', [], []],
    [
      'the last of those that are the same',
      [
        [1_000, 6],
        [2_000, 6],
        [3_000, 5],
      ],
      [
        [2_000, 6],
        [3_000, 5],
      ],
    ],
    [
      'all that differ, more or less',
      [
        [1_000, 6],
        [2_000, 7],
        [3_000, 6],
      ],
      [
        [1_000, 6],
        [2_000, 7],
        [3_000, 6],
      ],
    ],
    [
      'the least of a second, at its end',
      [
        [1_200, 6],
        [1_900, 4],
        [2_000, 5],
      ],
      [[2_000, 4]],
    ],
  ];
  for (const [name, sizes, written] of cases) {
    it(name, () => assert.deepEqual(coarsenedSizes(sizes, 60_000), written));
  }

  it('are few for as long as they are known, a window and a minute', () => {
    const sizes = Array.from({ length: 120 }, (_, n) => [n * 2_000, 500 - n] as const);
    const written = coarsenedSizes(sizes, 180_000);
    assert.deepEqual([written.length, written[1]], [25, [10_000, 494]]);
  });

  it('are few, and none is more than it was', () => {
    const step = fc.record({ wait: fc.nat(4_000), of: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        let at = 1_700_000_000_000;
        const sizes = steps.map(({ wait, of }) => {
          at += wait;
          return [at, of] as const;
        });
        // As long as they are known: a window of 180 s, and a minute.
        const written = coarsenedSizes(sizes, 180_000);
        assert.ok(written.length <= 25, `${written.length}`);
        for (const [from] of sizes) {
          // What is written of a second is read as of its end.
          const end = Math.ceil(from / 1000) * 1000;
          assert.ok(leastFrom(written, end) <= leastFrom(sizes, end));
        }
      }),
    );
  });
});
