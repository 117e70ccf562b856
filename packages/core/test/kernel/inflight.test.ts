import assert from 'node:assert/strict';
import { it } from 'node:test';
import { InFlight } from '../../src/kernel/inflight.ts';

it('has room for so many, and frees a place once', () => {
  const inFlight = new InFlight('write', 2);
  const [first, second] = [inFlight.start('a'), inFlight.start('b')];
  assert.notEqual(first, second);
  assert.deepEqual([inFlight.room, inFlight.hasRoom], [0, false]);
  assert.deepEqual([inFlight.finish(first), inFlight.finish(first)], ['a', null]);
  assert.deepEqual([inFlight.room, inFlight.hasRoom], [1, true]);
});
