import assert from 'node:assert/strict';
import { it } from 'node:test';
import { minTolerationNanos, upstreamWait } from '../../../src/eviction/upstream/wait.ts';

const options = { comparisonOperators: false };
const taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null };
const other = { ...taint, key: 'worse' };

function tolerated(key: string, tolerationSeconds: number | bigint | null) {
  return { key, operator: 'Exists', value: '', effect: '', tolerationSeconds };
}

it('is none for a taint that is not tolerated, whatever comes after it', () => {
  const wait = upstreamWait([taint, other], [tolerated('worse', 5)], options);
  assert.deepEqual(wait, { kind: 'intolerable', taint });
});

it('is the shortest of all, by the taint that has it', () => {
  const wait = upstreamWait([taint, other], [tolerated('bad', 30), tolerated('worse', 5)], options);
  assert.deepEqual(wait, { kind: 'finite', wait: 5000, taint: other });
  const forever = upstreamWait([taint], [tolerated('bad', null)], options);
  assert.deepEqual(forever, { kind: 'forever' });
});

it('wraps around an int64 of nanoseconds', () => {
  const nanos = (seconds: number | bigint) => minTolerationNanos([tolerated('bad', seconds)]);
  assert.ok(nanos(9_223_372_037n) < 0n, 'no limit');
  assert.equal(nanos(18_446_744_074n), 290_448_384n);
  assert.deepEqual([nanos(-1), nanos(Number.NaN)], [0n, 0n]);
});
