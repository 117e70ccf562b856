import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClusterClock } from '../../src/kernel/cluster-clock.ts';

it('shows what is written, and when that is by our time', () => {
  const clock = new ClusterClock();
  clock.set(3000);
  assert.deepEqual([clock.wall(1000), clock.when(4000)], [4000, 1000]);
});

it('dates what holds by its own word, and what says nothing or is yet to come by now', () => {
  const clock = new ClusterClock();
  clock.set(-500);
  const written = [2000, null, undefined, Number.NaN, 99_000];
  const since = written.map((at) => clock.since(5000, at));
  assert.deepEqual(since, [2500, 5000, 5000, 5000, 5000]);
});
