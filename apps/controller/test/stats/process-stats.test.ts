import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LoopLag } from '../../src/stats/process-stats.ts';

it('the loop lag is that of the latest beat of the last 15 seconds', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  const loop = new LoopLag();
  t.after(() => loop.stop());
  /** The next beat, so many milliseconds late. */
  const beat = (late: number): number => {
    now += 500 + late;
    t.mock.timers.tick(500);
    return loop.lag();
  };
  assert.equal(loop.lag(), 0);
  assert.equal(beat(0), 0);
  assert.equal(beat(7000), 7000);
  assert.equal(beat(20), 7000);
  now += 14_480;
  assert.equal(loop.lag(), 7000, 'not yet forgotten');
  now += 1;
  assert.equal(loop.lag(), 20, 'the later one is');
  now += 520;
  assert.equal(loop.lag(), 0);
});
