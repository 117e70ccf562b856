import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from '../../src/rate-limit/rate-limit.ts';

describe('a queue with a rate limit', () => {
  it('lets peers through in turns, whoever has come how often', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    const through: string[] = [];
    const queue = new FairQueue(10, 1, () => now);
    const come = (peer: string): (() => void) => queue.enter(peer, () => through.push(peer));
    for (let count = 0; count < 100; count += 1) come('many');
    const leave = come('gone');
    come('few');
    leave();
    assert.deepEqual(through, ['many']);
    for (let count = 0; count < 3; count += 1) {
      now += 100;
      t.mock.timers.tick(100);
    }
    assert.deepEqual(through, ['many', 'many', 'few', 'many']);
    queue.close();
    t.mock.timers.tick(10_000);
    assert.equal(through.length, 4);
  });

  it('has no timer that nobody waits for, and goes on when somebody comes', (t) => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    let now = 0;
    const through: string[] = [];
    const queue = new FairQueue(1, 1, () => now);
    t.after(() => queue.close());
    const come = (peer: string): (() => void) => queue.enter(peer, () => through.push(peer));
    come('first')();
    const [one, other] = [come('one'), come('other')];
    one();
    assert.equal(timers(), before + 1);
    other();
    assert.equal(timers(), before);
    now += 1000;
    come('late');
    assert.deepEqual(through, ['first', 'late']);
  });
});
