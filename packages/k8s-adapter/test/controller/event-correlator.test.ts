import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventCorrelator, RecentMap } from '../../src/controller/event-correlator.ts';
import type { ClusterEvent } from '../../src/proto/event-requests.ts';
import { fc } from '../world/fast-check.ts';

const eventOf = (
  name: string,
  message: string,
  more: Partial<ClusterEvent> = {},
): ClusterEvent => ({
  subject: { kind: 'Pod', namespace: 'shop', name, uid: name, apiVersion: 'v1' },
  type: 'Normal',
  reason: 'X',
  message,
  ...more,
});

function correlator(): EventCorrelator {
  let serial = 0;
  return new EventCorrelator('taintmgr', () => ++serial);
}

describe('events about an object', () => {
  it('are equal by object, component, type, reason and text', () => {
    const events = correlator();
    const counts = [
      eventOf('a', 'one'),
      eventOf('a', 'one', { type: 'Warning' }),
      eventOf('a', 'one', { reason: 'Y' }),
      eventOf('a', 'one', { component: 'other' }),
      eventOf('a', 'two'),
      eventOf('b', 'one'),
      eventOf('a', 'one'),
    ].map((event) => events.count(0, event).count);
    assert.deepEqual(counts, [1, 1, 1, 1, 1, 1, 2]);
  });

  it('are remembered while no 25 others were said of it', () => {
    const events = correlator();
    for (let n = 0; n <= 25; n++) events.count(0, eventOf('a', `text ${n}`));
    assert.equal(events.count(0, eventOf('a', 'text 1')).count, 2);
    assert.equal(events.count(0, eventOf('a', 'text 0')).count, 1);
  });

  it('are not forgotten for others where they come again and again', () => {
    const events = correlator();
    for (let n = 0; n < 100; n++) {
      assert.equal(events.count(0, eventOf('a', 'often')).count, n + 1);
      events.count(0, eventOf('a', `text ${n}`));
    }
  });

  it('share 25 requests, and one more every 5 minutes, whoever was talked about meanwhile', () => {
    const events = correlator();
    const series = [events.count(0, eventOf('a', 'one')), events.count(0, eventOf('a', 'two'))];
    const admitted = (now: number): number => {
      let count = 0;
      for (let n = 0; n < 30; n++) {
        const one = series[n % 2] ?? assert.fail();
        if (events.admits(now, one)) count += 1;
      }
      return count;
    };
    assert.equal(admitted(1000), 25);
    assert.equal(events.admits(1000, events.count(0, eventOf('b', 'one'))), true);
    assert.equal(admitted(300_999), 0);
    assert.equal(admitted(301_000), 1);
    assert.equal(admitted(901_000), 2);
  });
});

describe('recent map', () => {
  it('forgets what was not asked for the longest time', () => {
    const map = new RecentMap<number>(2);
    const made: string[] = [];
    const ask = (key: string): void => {
      map.getOrAdd(key, () => made.push(key));
    };
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b', 'c']) ask(key);
    assert.deepEqual(made, ['a', 'b', 'c', 'b', 'c']);
  });

  it('makes what a list of the last keys would not know', () => {
    const keys = fc.array(fc.nat(12).map(String), { maxLength: 400 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), keys, (sizeMax, asked) => {
        const map = new RecentMap<string>(sizeMax);
        let known: string[] = [];
        for (const key of asked) {
          let isMade = false;
          const make = (): string => {
            isMade = true;
            return key;
          };
          assert.equal(map.getOrAdd(key, make), key);
          assert.equal(isMade, !known.includes(key));
          known = [...known.filter((other) => other !== key), key].slice(-sizeMax);
        }
      }),
    );
  });
});
