import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkQueue } from '../../src/controllers/work-queue.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import { ApiError } from '../../src/objects/errors.ts';

/** A queue that logs `INSTANT KEY` and refuses a key as often as `refusals` says. */
function loggingQueue(refusals: Record<string, number> = {}, gatherMs = 0) {
  const clock = new VirtualClock(0);
  const log: string[] = [];
  const work = (key: string): void => {
    log.push(`${clock.now()} ${key}`);
    const left = refusals[key] ?? 0;
    refusals[key] = left - 1;
    if (left > 0) throw new ApiError(409, 'Conflict', 'try again');
  };
  return { clock, log, queue: new WorkQueue(clock, work, gatherMs) };
}

describe('a work queue', () => {
  it('runs each key once per round, in the order of adding, never at once', () => {
    const { clock, log, queue } = loggingQueue();
    for (const key of ['b', 'a', 'b']) queue.add(key);
    assert.deepEqual(log, []);
    assert.ok(!queue.isIdle);
    clock.advanceTo(0);
    assert.deepEqual(log, ['0 b', '0 a']);
    assert.ok(queue.isIdle);
  });

  it('waits for more keys when told to', () => {
    const { clock, log, queue } = loggingQueue({}, 20);
    queue.add('a');
    clock.advanceTo(19);
    queue.add('b');
    clock.advanceTo(100);
    assert.deepEqual(log, ['20 a', '20 b']);
  });

  it('tries refused work again after a growing pause, and other keys meanwhile', () => {
    const { clock, log, queue } = loggingQueue({ a: 3 });
    queue.add('a');
    queue.add('b');
    clock.advanceTo(20);
    assert.deepEqual(log, ['0 a', '0 b', '5 a', '15 a']);
    assert.ok(!queue.isIdle);
    clock.advanceTo(1000);
    assert.deepEqual(log.slice(4), ['35 a']);
    assert.ok(queue.isIdle);
    queue.add('a');
    clock.advanceTo(2000);
    assert.deepEqual(log.slice(5), ['1000 a']);
  });

  it('never pauses for more than a minute', () => {
    const { clock, log, queue } = loggingQueue({ a: 100 });
    queue.add('a');
    clock.advanceTo(600_000);
    const [last = '', before = ''] = log.reverse();
    assert.equal(Number.parseInt(last, 10) - Number.parseInt(before, 10), 60_000);
  });

  it('keeps the earliest of several plans for one key', () => {
    const { clock, log, queue } = loggingQueue();
    for (const delay of [50, 20, 90]) queue.addAfter('a', delay);
    clock.advanceTo(1000);
    assert.deepEqual(log, ['20 a']);
  });

  it('forgets everything when cleared and works again afterwards', () => {
    const { clock, log, queue } = loggingQueue({ c: 1 });
    queue.add('c');
    clock.advanceTo(0);
    queue.add('a');
    queue.addAfter('b', 10);
    queue.clear();
    clock.advanceTo(1000);
    queue.add('d');
    clock.advanceTo(2000);
    assert.deepEqual(log, ['0 c', '1000 d']);
  });

  it('lets through errors that are no refusals', () => {
    const clock = new VirtualClock(0);
    const queue = new WorkQueue(clock, () => assert.fail('a mistake'));
    queue.add('a');
    assert.throws(() => clock.advanceTo(0), /^Error: a: a mistake$/);
  });

  it('goes on after such an error: the rest has its turn, and so has the key, later', () => {
    const clock = new VirtualClock(0);
    const log: string[] = [];
    const queue = new WorkQueue(clock, (key) => {
      log.push(`${clock.now()} ${key}`);
      if (key === 'b' && clock.now() < 10) throw new TypeError('a mistake');
    });
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    for (const ms of [0, 5]) assert.throws(() => clock.advanceTo(ms), /b: a mistake/);
    assert.ok(!queue.isIdle);
    clock.advanceTo(1000);
    assert.deepEqual(log, ['0 a', '0 b', '0 c', '0 d', '5 b', '15 b']);
    assert.ok(queue.isIdle);
  });
});
