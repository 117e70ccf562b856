import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TokenBucket } from '../../src/kernel/token-bucket.ts';

it('lets a burst through, and then so many in a second', () => {
  const bucket = new TokenBucket(2, 3);
  for (let taken = 0; taken < 3; taken++) bucket.take(0);
  assert.deepEqual([bucket.readyAt(0), bucket.readyAt(500), bucket.has(1000, 2)], [500, 500, true]);
  assert.throws(() => bucket.take(0), /a token is taken when it is there/);
});

it('keeps no more than its burst', () => {
  const bucket = new TokenBucket(1, 1);
  bucket.take(0);
  assert.deepEqual([bucket.has(1_000_000, 1), bucket.has(1_000_000, 2)], [true, false]);
});

it('takes several at once, and what was not used comes back', () => {
  const bucket = new TokenBucket(2, 5);
  bucket.take(0, 3.5);
  assert.deepEqual([bucket.readyAt(0, 3), bucket.readyAt(0)], [750, 0]);
  assert.throws(() => bucket.take(0, 2), /a token is taken when it is there/);
  bucket.putBack(0, 0.5);
  assert.deepEqual([bucket.has(0, 2), bucket.readyAt(0, 3)], [true, 500]);
  bucket.putBack(0, 9);
  assert.deepEqual([bucket.has(0, 5), bucket.has(1000, 6)], [true, false]);
});

it('goes on elsewhere from the instant at which it has one token', () => {
  const [one, other] = [new TokenBucket(1, 5), new TokenBucket(1, 5)];
  for (let taken = 0; taken < 5; taken++) one.take(0);
  const oneAt = one.oneAt(0);
  assert.equal(oneAt, 1000);
  other.restore(0, oneAt);
  assert.deepEqual([other.readyAt(0), other.oneAt(10_000)], [1000, null]);
});
