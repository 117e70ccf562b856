// What a NodeDrain goes by from its first instant: it was heard of before the drain began.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, PodInput } from '@taintmgr/core';
import { pauseOf, policyOf } from '../../policy/objects.ts';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const hour = 3_600_000;
const ofTeam = { names: [], selector: { matchLabels: { team: 'db' }, matchExpressions: [] } };

/** A drain of n1 that begins when all of this is known. */
function begunAfter(events: readonly Event[], spec: object = {}, pods?: readonly PodInput[]) {
  const drain = drainOf({ nodes: ['n1'], ...spec });
  const world = new World(drain, pods ? [{ name: 'n1' }] : ['n1'], pods);
  for (const event of events) world.tell(event);
  world.tell({ kind: 'synced' });
  return world;
}

describe('a NodeDrain that begins', () => {
  const keep = policyOf('keep', { action: 'Keep' });
  const holds: readonly (readonly [what: string, events: readonly Event[]])[] = [
    ['a policy', [{ kind: 'policyUpsert', policy: keep }]],
    ['a pause', [{ kind: 'pauseUpsert', pause: pauseOf('night') }]],
  ];
  for (const [what, events] of holds) {
    it(`keeps the pods that ${what} has kept before`, () => {
      const world = begunAfter(events);
      world.pass(60_000);
      assert.ok(world.log.includes('taint n1'));
      assert.ok(!world.log.includes('evict on-n1'));
    });
  }

  it('knows the labels of namespaces: what is for others keeps nothing', () => {
    const policy = { ...keep, match: { ...keep.match, namespaces: ofTeam } };
    const world = begunAfter([
      { kind: 'namespaceUpsert', namespace: { name: 'shop', labels: { team: 'web' } } },
      { kind: 'policyUpsert', policy },
    ]);
    world.pass(60_000);
    assert.ok(world.log.includes('evict on-n1'));
  });

  for (const ahead of [0, hour, -hour]) {
    const clock: Event = { kind: 'clock', ahead };

    it(`says by the clock of the cluster when it began: ${ahead / hour} h ahead`, () => {
      const world = begunAfter([clock]);
      world.pass(1_000);
      assert.equal(world.state().startedAt, ahead);
    });

    it(`ends when that clock says so, to the millisecond: ${ahead / hour} h ahead`, () => {
      const until = new Date(ahead + 33_333).toISOString();
      const world = begunAfter([clock], { until });
      world.refuses.add('on-n1');
      world.pass(33_332);
      assert.equal(world.state().phase, 'Blocked');
      world.pass(1);
      assert.equal(world.state().phase, 'TimedOut');
    });

    it(`begins when its window opens by that clock: ${ahead / hour} h ahead`, () => {
      const windows = [{ schedule: '0 2 * * *', duration: '1h' }];
      const world = begunAfter([clock], { windows });
      const until = ahead + 33_333;
      world.answers = () =>
        world.now < 33_333 ? { kind: 'changed', message: 'closed', until } : { kind: 'done' };
      world.pass(33_332);
      assert.deepEqual(world.log, ['guard']);
      world.pass(1);
      assert.ok(world.log.includes('taint n1'));
    });

    it(`waits by that clock for pods that terminate: ${ahead / hour} h ahead`, () => {
      const deletionTimestamp = ahead - 10_000;
      const pods = [{ name: 'old', nodeName: 'n1', deletionTimestamp }];
      const world = begunAfter([clock], { timeouts: { terminatingPods: '60s' } }, pods);
      world.pass(50_999);
      assert.notEqual(world.state().phase, 'Drained');
      world.pass(1);
      assert.equal(world.state().phase, 'Drained');
    });
  }
});
