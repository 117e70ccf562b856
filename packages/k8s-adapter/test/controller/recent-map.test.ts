import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentMap } from '../../src/controller/recent-map.ts';

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
});
