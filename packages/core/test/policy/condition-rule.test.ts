import assert from 'node:assert/strict';
import { it } from 'node:test';
import { poolLimit } from '../../src/policy/condition-rule.ts';

const cases: readonly (readonly [limit: number | string, size: number, nodes: number | null])[] = [
  [3, 10, 3],
  [0, 10, 0],
  ['10%', 30, 3],
  ['10%', 9, 0],
  ['100%', 7, 7],
  ['101%', 7, null],
  ['10', 7, null],
  [-1, 7, null],
  [1.5, 7, null],
];
for (const [limit, size, nodes] of cases) {
  it(`${limit} of ${size} nodes: ${nodes ?? 'no limit'}`, () => {
    assert.equal(poolLimit(limit, size), nodes);
  });
}
