import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseGoDuration } from '../../src/kernel/go-number.ts';

describe('durations', () => {
  it('are Go’s', () => {
    const second = 1_000_000_000n;
    assert.equal(parseGoDuration('1h30m'), 5400n * second);
    assert.equal(parseGoDuration('-1.5s'), (-3n * second) / 2n);
    assert.equal(parseGoDuration('+0.25µs'), 250n);
    assert.throws(() => parseGoDuration('9223372036854775808ns'), RangeError);
  });
});
