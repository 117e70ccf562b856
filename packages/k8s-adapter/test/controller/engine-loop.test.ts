import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';

const minute = 60_000;

/** A loop against an API server on a clock of their own, and how long ago nodes and pods were heard of. */
function start() {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const api = new ApiServer({ clock, random: seededRandom(1) });
  const loop = new Loop({ machine: createEngine(), random: seededRandom(2) });
  const driver = new VirtualDriver({ loop, clock, exchange: api.exchange, onNotice: () => {} });
  driver.feed({ kind: 'start' });
  const oldest = (): number =>
    Math.max(...loop.status().map(({ heardAt }) => clock.now() - (heardAt ?? 0)));
  const run = (ms: number): void => driver.runUntil(clock.now() + ms);
  /** Runs while something goes on elsewhere; the greatest age on the way. */
  const live = (ms: number): number => {
    const ages: number[] = [];
    for (let passed = 0; passed < ms; passed += minute / 2) {
      api.create('namespaces', { metadata: { name: `elsewhere-${clock.now()}` } });
      run(minute / 2);
      ages.push(oldest());
    }
    return Math.max(...ages);
  };
  return { api, oldest, run, live };
}

describe('how far a loop has read', () => {
  it('goes on where no node and no pod changes: bookmarks are enough', () => {
    const age = start().live(30 * minute);
    assert.ok(age <= 2 * minute, `${age}`);
  });

  it('stands still while the API server is away, and goes on when it is back', () => {
    const { api, oldest, run, live } = start();
    run(minute);
    api.faults.down = true;
    run(10 * minute);
    assert.ok(oldest() >= 10 * minute, `${oldest()}`);
    api.faults.down = false;
    live(3 * minute);
    assert.ok(oldest() <= 2 * minute, `${oldest()}`);
  });
});
