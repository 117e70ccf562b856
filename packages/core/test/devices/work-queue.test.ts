import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkQueue } from '../../src/devices/work-queue.ts';

/** The waits before the tries of an item that fails again and again. */
function waits(queue: WorkQueue, count: number): readonly number[] {
  let now = 0;
  queue.add('a');
  return Array.from({ length: count }, () => {
    assert.equal(queue.take(now), 'a');
    queue.fail(now, 'a');
    const next = queue.nextWake() ?? assert.fail('it is forgotten');
    const wait = next - now;
    now = next;
    return wait;
  });
}

describe('a work queue', () => {
  it('tries again after 5 ms, doubling, 1000 s at most, for ever', () => {
    const doubled = Array.from({ length: 18 }, (_, index) => 5 * 2 ** index);
    assert.deepEqual(waits(new WorkQueue(1), 20), [...doubled, 1_000_000, 1_000_000]);
  });

  it('forgets how often it failed when it is done with, not when it is put off', () => {
    const queue = new WorkQueue(1);
    waits(queue, 3);
    assert.equal(queue.take(1_000), 'a');
    queue.end('a', 2_000);
    assert.equal(queue.take(2_000), 'a');
    queue.fail(2_000, 'a');
    assert.equal(queue.nextWake(), 2_040);
    assert.equal(queue.take(2_040), 'a');
    queue.end('a');
    assert.deepEqual(waits(queue, 1), [5]);
  });

  it('takes what was added while it was worked on once more, and no item twice', () => {
    const queue = new WorkQueue(2);
    for (const item of ['a', 'b', 'a']) queue.add(item);
    assert.deepEqual([queue.take(0), queue.take(0), queue.take(0)], ['a', 'b', null]);
    queue.add('a');
    assert.equal(queue.isReady, false);
    queue.end('b');
    assert.equal(queue.take(0), null);
    queue.end('a');
    assert.deepEqual([queue.isReady, queue.take(0)], [true, 'a']);
  });

  it('has the earliest time of those that were said', () => {
    const queue = new WorkQueue(1);
    for (const at of [30, 10, 20]) queue.addAt('a', at);
    assert.equal(queue.nextWake(), 10);
    assert.deepEqual([queue.take(9), queue.take(10), queue.nextWake()], [null, 'a', null]);
  });

  it('lets 100 retries of all items through, and ten a second after that', () => {
    const queue = new WorkQueue(200);
    const names = Array.from({ length: 120 }, (_, index) => `i${index}`);
    for (const name of names) queue.add(name);
    for (const name of names) assert.equal(queue.take(0), name);
    for (const name of names) queue.fail(0, name);
    let soon = 0;
    while (queue.take(5) !== null) soon += 1;
    assert.equal(soon, 100);
    assert.equal(queue.nextWake(), 100);
  });
});
