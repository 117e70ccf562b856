import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../../src/kernel/clock.ts';
import { Heartbeats } from '../../src/kubelet/heartbeat-timer.ts';
import { fc } from '../world/fast-check.ts';

test('each beats with its own phase, one period apart', () => {
  const clock = new VirtualClock(0);
  const heartbeats = new Heartbeats(clock, 10_000);
  const heard: string[] = [];
  const follow = (name: string) => heartbeats.begin(() => heard.push(`${name} ${clock.now()}`));
  follow('a');
  clock.advanceTo(3_000);
  const second = follow('b');
  follow('c');
  clock.advanceTo(13_000);
  assert.deepEqual(heard, ['a 10000', 'b 13000', 'c 13000']);
  second.cancel();
  second.cancel();
  clock.advanceTo(29_999);
  assert.deepEqual(heard.slice(3), ['a 20000', 'c 23000']);
});

test('one that ends another ends it at once, and one that begins anew waits for a period', () => {
  const clock = new VirtualClock(0);
  const heartbeats = new Heartbeats(clock, 1_000);
  const heard: string[] = [];
  heartbeats.begin(() => {
    heard.push(`a ${clock.now()}`);
    if (clock.now() === 1_000) other.cancel();
    if (clock.now() === 2_000) heartbeats.begin(() => heard.push(`c ${clock.now()}`));
  });
  const other = heartbeats.begin(() => heard.push(`b ${clock.now()}`));
  clock.advanceTo(3_500);
  assert.deepEqual(heard, ['a 1000', 'a 2000', 'a 3000', 'c 3000']);
});

test('nothing waits when all are over, and it can begin again', () => {
  const clock = new VirtualClock(0);
  const heartbeats = new Heartbeats(clock, 1_000);
  let count = 0;
  const beats = [heartbeats.begin(() => count++), heartbeats.begin(() => count++)];
  clock.advanceTo(5_500);
  assert.equal(count, 10);
  for (const beat of beats) beat.cancel();
  assert.equal(clock.nextWake(), null);
  clock.advanceTo(7_000);
  heartbeats.begin(() => count++);
  clock.advanceTo(9_000);
  assert.equal(count, 12);
});

test('one with a first time of its own beats from then on, one period apart', () => {
  const clock = new VirtualClock(0);
  const heartbeats = new Heartbeats(clock, 10_000);
  const heard: string[] = [];
  const follow = (name: string, firstMs?: number) =>
    heartbeats.begin(() => heard.push(`${name} ${clock.now()}`), firstMs);
  follow('a');
  follow('b', 4_000);
  follow('c', 7_000).cancel();
  follow('d', 7_000);
  clock.advanceTo(20_000);
  assert.deepEqual(heard, ['b 4000', 'd 7000', 'a 10000', 'b 14000', 'd 17000', 'a 20000']);
});

test('they beat as if each had a timer of its own', () => {
  const periodMs = 100;
  const beat = fc.record({
    begins: fc.integer({ min: 0, max: 500 }),
    first: fc.option(fc.integer({ min: 1, max: periodMs }), { nil: undefined }),
    lasts: fc.integer({ min: 1, max: 600 }),
  });
  const play = (
    beats: readonly { begins: number; first?: number | undefined; lasts: number }[],
  ) => {
    const clock = new VirtualClock(0);
    const heartbeats = new Heartbeats(clock, periodMs);
    const heard: string[] = [];
    for (const [name, { begins, first, lasts }] of beats.entries()) {
      clock.after(begins, () => {
        const one = heartbeats.begin(() => heard.push(`${clock.now()} ${name}`), first);
        clock.after(lasts - 0.5, () => one.cancel());
      });
    }
    clock.advanceTo(1_500);
    return heard.toSorted();
  };
  const twin = (beats: Parameters<typeof play>[0]): readonly string[] =>
    beats
      .flatMap(({ begins, first = periodMs, lasts }, name) => {
        const times: string[] = [];
        for (let after = first; after < lasts; after += periodMs) {
          times.push(`${begins + after} ${name}`);
        }
        return times;
      })
      .toSorted();
  const property = fc.property(fc.array(beat, { maxLength: 12 }), (beats) => {
    assert.deepEqual(play(beats), twin(beats));
  });
  fc.assert(property, { numRuns: 500 });
});
