// A new leader goes on within the windows of the one before: however often leaders change, no window
// sees more evictions than its share of the pods that there were when it began.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Engine } from '@taintmgr/core';
import type { LimitRule } from '@taintmgr/core/policy';
import { fc } from '../../fast-check.ts';
import { itAnswersEvictions } from '../script.ts';
import { World } from './limit-world.ts';

const windowMs = 30_000;
const lengthSeconds = 100;

const story = fc.record({
  percent: fc.constantFrom(10, 20, 34),
  podsOnNode: fc.integer({ min: 2, max: 6 }),
  /** When each node is tainted, in seconds. */
  taints: fc.array(fc.nat(60), { minLength: 3, maxLength: 5 }),
  /** When another engine takes over. */
  leaders: fc.array(fc.nat(lengthSeconds), { minLength: 1, maxLength: 5 }),
  /** Whether a pod that goes is replaced, elsewhere. */
  isReplaced: fc.boolean(),
  /** When somebody deletes a pod that stays, and when pods come. */
  scaledDown: fc.array(fc.nat(lengthSeconds), { maxLength: 4 }),
});

it('however often leaders change, a window sees no more than its share', () => {
  let goes = 0;
  fc.assert(
    fc.property(story, ({ percent, podsOnNode, taints, leaders, isReplaced, scaledDown }) => {
      const limit: LimitRule = { per: 'total', percent, windowMs, onLimit: 'queue' };
      const engine = (): Engine => createEngine({ limits: [limit], keepLimits: true });
      const world = new World(engine());
      let there = 0;
      const add = (name: string, node: string): void => {
        world.pod(name, node, { boundAt: world.now });
        there += 1;
      };
      world.onGone = (name) => {
        there -= 1;
        if (isReplaced) add(`${name}-again`, 'spare');
      };
      world.node('spare');
      for (const [index] of taints.entries()) {
        world.node(`n${index}`);
        for (let pod = 0; pod < podsOnNode; pod++) add(`shop/p${index}-${pod}`, `n${index}`);
      }
      for (const [index] of scaledDown.entries()) add(`shop/extra-${index}`, 'spare');
      world.tell({ kind: 'synced' });
      /** How many pods there are, and have gone, at the end of each second; ends of windows do not count. */
      const seen = [{ there, gone: 0 }];
      for (let second = 0; second < lengthSeconds; second++) {
        for (const [index, at] of taints.entries())
          if (at === second) world.taint(`n${index}`, 'wrong');
        for (const [index, at] of scaledDown.entries()) {
          if (at !== second) continue;
          world.deletePod(`shop/extra-${index}`);
          there -= 1;
        }
        if (leaders.includes(second)) world.takeOver(engine());
        world.pass(1);
        seen.push({ there, gone: world.evicted.length });
        const first = seen[Math.max(0, seen.length - windowMs / 1000)] ?? assert.fail();
        const begin = Math.max(0, seen.indexOf(first) - 2);
        const size = Math.max(...seen.slice(begin, begin + 3).map((one) => one.there));
        const most = Math.max(1, Math.floor((size * percent) / 100 + 1e-9));
        const evicted = world.evicted.length - first.gone;
        assert.ok(evicted <= most, `${evicted} of ${size} by second ${second + 1}`);
      }
      goes += world.evicted.length;
    }),
    { numRuns: 150 },
  );
  assert.ok(goes > 100, `${goes}`);
});

it('who leads no more shows no limits, whoever opens them meanwhile', () => {
  const limit: LimitRule = { per: 'total', pods: 1, windowMs, onLimit: 'trip' };
  const world = new World(createEngine({ limits: [limit], keepLimits: true }));
  world.node('n1');
  for (const name of ['shop/one', 'shop/two']) world.pod(name, 'n1');
  world.tell({ kind: 'synced' });
  world.taint('n1', 'wrong');
  world.pass(1);
  assert.equal(world.tripped().length, 1);
  world.tell({ kind: 'leadership', held: false });
  assert.deepEqual(world.engine.limits(world.now), []);
  // It reads what others have counted before it shows any.
  world.tell({ kind: 'leadership', held: true });
  world.pass(1);
  assert.equal(world.tripped().length, 1);
});

describe('a rate under leaders that change', () => {
  const rate: LimitRule = { per: 'total', podsPerSecond: 0.1, burst: 20, onLimit: 'queue' };

  /** Sixty pods are due; who begins to lead is told so once it knows all of them. */
  function evictedUnder(limit: LimitRule, world: World): void {
    world.node('n1');
    for (let pod = 0; pod < 60; pod++) world.pod(`shop/web-${pod}`, 'n1');
    world.taint('n1', 'wrong');
    world.tell({ kind: 'synced' });
    world.tell({ kind: 'leadership', held: true });
    world.pass(20);
    for (let leader = 0; leader < 5; leader++) {
      world.takeOver(createEngine({ limits: [limit], leader: false }));
      world.tell({ kind: 'leadership', held: true });
      world.pass(20);
    }
  }

  it('begins with one pod, however often', () => {
    const world = new World(createEngine({ limits: [rate], leader: false }));
    evictedUnder(rate, world);
    // One at once and two more in 20 s, each of six times.
    assert.ok(world.evicted.length <= 18, `${world.evicted.length}`);
  });

  it('fills up from then on, of nodes that nobody asked about before, too', () => {
    const perNode: LimitRule = { ...rate, per: 'node' };
    const world = new World(createEngine({ limits: [perNode], leader: false }));
    world.node('n1');
    for (let pod = 0; pod < 60; pod++) world.pod(`shop/web-${pod}`, 'n1');
    world.tell({ kind: 'synced' });
    world.tell({ kind: 'leadership', held: true });
    world.pass(100);
    world.taint('n1', 'wrong');
    world.pass(1);
    assert.equal(world.evicted.length, 11);
  });

  it('is not given back to who leads again', () => {
    const world = new World(createEngine({ limits: [rate] }));
    world.node('n1');
    for (let pod = 0; pod < 60; pod++) world.pod(`shop/web-${pod}`, 'n1');
    world.taint('n1', 'wrong');
    world.tell({ kind: 'synced' });
    world.pass(5);
    assert.equal(world.evicted.length, 20, 'all along it leads, and its limit is full');
    world.tell({ kind: 'leadership', held: false });
    world.tell({ kind: 'leadership', held: true });
    world.pass(1);
    assert.equal(world.evicted.length, 20);
    world.pass(6);
    assert.equal(world.evicted.length, 21);
  });

  it('does not trip for it', () => {
    const limit: LimitRule = { ...rate, onLimit: 'trip', burst: 60 };
    const world = new World(createEngine({ limits: [limit], leader: false }));
    evictedUnder(limit, world);
    assert.equal(world.evicted.length, 60);
    assert.deepEqual(world.tripped(), []);
  });
});

itAnswersEvictions('limit-record');
