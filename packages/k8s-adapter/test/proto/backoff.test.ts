import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backoff } from '../../src/proto/backoff.ts';
import { random } from '../world/random.ts';

function waits(draw: number, count: number): number[] {
  const backoff = new Backoff(random(draw));
  let now = 0;
  return Array.from({ length: count }, () => {
    const wait = backoff.next(now);
    now += wait;
    return wait;
  });
}

describe('backoff', () => {
  it('doubles from 0.8 s to 30 s at the lower edge', () => {
    assert.deepEqual(waits(0, 8), [800, 1600, 3200, 6400, 12_800, 15_000, 15_000, 15_000]);
  });

  it('doubles from 1.6 s to 30 s at the upper edge', () => {
    const edge = waits(0.999999, 8);
    assert.deepEqual(edge, [1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]);
  });

  it('begins anew after two calm minutes, not before', () => {
    const backoff = new Backoff(random(0));
    assert.equal(backoff.next(0), 800);
    assert.equal(backoff.next(800 + 119_999), 1600);
    assert.equal(backoff.next(800 + 119_999 + 1600 + 120_000), 800);
  });

  it('waits at least as long as a server asks', () => {
    const backoff = new Backoff(random(0));
    assert.equal(backoff.next(0, 7000), 7000);
    assert.equal(backoff.next(7000, 100), 1600);
  });
});
