// The waits of the process's clock, on timers that do not wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RealClock } from '../../src/kernel/clock.ts';

const dayMs = 86_400_000;

for (const days of [0, 1, 24, 25, 30, 100]) {
  test(`a wait of ${days} days is as long as that`, (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let isOver = false;
    new RealClock().after(days * dayMs, () => {
      isOver = true;
    });
    // Timers that are set by timers count from the end of a tick.
    for (let day = 0; day < days; day++) {
      assert.ok(!isOver, `after ${day} days`);
      t.mock.timers.tick(dayMs);
    }
    t.mock.timers.tick(dayMs);
    assert.ok(isOver);
  });
}

test('a long wait is cancelled in whatever part it is', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const timer = new RealClock().after(60 * dayMs, () => assert.fail('it was cancelled'));
  for (let day = 0; day < 30; day++) t.mock.timers.tick(dayMs);
  timer.cancel();
  for (let day = 0; day < 60; day++) t.mock.timers.tick(dayMs);
});

test('what a callback throws is told to whoever asks for it, and thrown otherwise', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: string[] = [];
  const fail = (): void => assert.fail('a mistake');
  new RealClock((error, during) => told.push(`${during}: ${error}`)).after(1, fail);
  t.mock.timers.tick(1);
  assert.match(told.join(), /^a timer: AssertionError.*a mistake$/);
  new RealClock().after(1, fail);
  assert.throws(() => t.mock.timers.tick(1), /a mistake/);
});
