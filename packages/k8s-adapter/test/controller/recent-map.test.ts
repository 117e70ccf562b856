import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentMap } from '../../src/controller/event-correlator.ts';
import { fc } from '../world/fast-check.ts';

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
