// Pods that their owners make anew on a node that is being drained.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodInput } from '@taintmgr/core';
import { fc } from '../fast-check.ts';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'op' };
const tolerations = [{ key: '', operator: 'Exists' }];
const pinned: PodInput = { name: 'op-0', nodeName: 'n1', owner };

/** A node with such pods, each made anew on the node as soon as it goes. */
function worldOf(pods: readonly PodInput[], spec: object = {}, waits = 0): World {
  const world = new World(drainOf({ nodes: ['n1'], ...spec }), [{ name: 'n1' }], pods);
  let made = pods.length;
  world.onEvicted = ({ namespace, nodeName }) => {
    const pod = { ...pods[0], namespace, nodeName, name: `op-${made}`, uid: `again-${made}` };
    made += 1;
    if (waits === 0) world.show(pod);
    else world.after(waits, () => world.show(pod));
  };
  return world;
}

describe('a pod that comes back to the node', () => {
  it('is evicted again after 5, 10 and 20 s, then stays and is named', () => {
    const world = worldOf([pinned]);
    const evicted: number[] = [];
    const again = world.onEvicted;
    world.onEvicted = (pod) => {
      evicted.push(world.now);
      again(pod);
    };
    world.pass(7_000);
    assert.match(
      world.state().pods[0]?.hold ?? '',
      /^came back 2 times: ReplicaSet op starts it again on the node/,
    );
    world.pass(3_600_000);
    assert.deepEqual(evicted, [0, 5_000, 15_000, 35_000]);
    const { phase, podsGone, podsLeft, blockers } = world.state();
    assert.deepEqual([phase, podsGone, podsLeft], ['Failed', 4, 1]);
    assert.deepEqual(blockers, [
      'node n1: pod shop/op-4: came back 4 times: ReplicaSet op starts it again on the node ' +
        '(it names the node, or the node takes new pods), and it stays',
    ]);
  });

  it('is said to tolerate the taint where it does', () => {
    const world = worldOf([{ ...pinned, tolerations }], {
      tolerations: 'Ignore',
    });
    world.pass(3_600_000);
    assert.match(world.state().blockers.join(), /\(it tolerates the taint\), and it stays$/);
  });

  it('is counted for each owner, and lets other pods of the node go', () => {
    const other = { ...pinned, name: 'web-0', owner: { ...owner, name: 'web' } };
    const world = worldOf([pinned]);
    world.pass(6_000);
    world.show(other);
    world.pass(10);
    assert.ok(world.log.includes('evict web-0'));
  });

  for (const [whose, made] of [
    ['that nobody owns', () => ({ name: 'op-0' })],
    ['that nobody owns, of a new name', (at: number) => ({ name: `op-${at}` })],
    [
      'whose owner is new as well',
      (at: number) => ({ name: `op-${at}`, owner: { ...owner, name: `op-xkcd${at + 4}` } }),
    ],
  ] as const) {
    it(`is evicted no more often ${whose}, while another pod holds the node up`, () => {
      const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
      world.refuses.add('on-n1');
      let at = 0;
      const make = (): void => world.show({ nodeName: 'n1', uid: `op-${at}`, ...made(at) });
      make();
      world.onEvicted = () => {
        at += 1;
        world.after(200, make);
      };
      world.pass(60_000);
      assert.equal(at, 4);
      world.refuses.clear();
      world.pass(120_000);
      assert.match(world.state().blockers.join(), /came back 4 times: .*, and it stays/);
    });
  }

  const workflow = { ...owner, apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow' };
  const uuid = (at: number): string => `3f0c9d2e-1a2b-4c3d-8e4f-0000000${1000 + at}a`;
  for (const [what, made] of [
    ['a UUID', (at: number) => ({ name: `runner-${uuid(at)}` })],
    ['hexadecimal digits', (at: number) => ({ name: `task-${(0xa0e1_3000 + at).toString(16)}` })],
    ['a number and a suffix', (at: number) => ({ name: `cron-${29_123_456 + at}-xkcd${2 + at}` })],
    [
      'words',
      (at: number) => ({ name: ['otter', 'eel', 'emu', 'bee', 'ape'].at(at % 5) + 'a'.repeat(at) }),
    ],
    [
      'an owner with a UUID',
      (at: number) => ({ name: `w-${at}`, owner: { ...workflow, name: uuid(at) } }),
    ],
    ['a namespace of its own', (at: number) => ({ name: 'w', namespace: uuid(at) })],
  ] as const) {
    it(`stays after seven evictions where each has ${what}`, () => {
      const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
      world.refuses.add('on-n1');
      const evicted: number[] = [];
      const make = (): void => {
        world.show({ nodeName: 'n1', uid: `op-${evicted.length}`, ...made(evicted.length) });
      };
      make();
      world.onEvicted = () => {
        evicted.push(world.now);
        world.after(200, make);
      };
      world.pass(3_600_000);
      assert.deepEqual(evicted, [0, 200, 400, 600, 5_800, 16_000, 36_200]);
      world.refuses.clear();
      world.pass(120_000);
      assert.match(
        world.state().blockers.join(),
        /new pods came to the node 7 times during its drain: .+ starts this one \(.+\), and it stays/,
      );
    });
  }

  it('is moved no more often by whoever answers the EvictionRequests of the drain', () => {
    const pods = { withoutController: true, evictBy: 'EvictionRequest' };
    const world = new World(drainOf({ nodes: ['n1'], pods }), ['n1'], [pinned]);
    let moved = 0;
    for (let seconds = 0; seconds < 300; seconds += 1) {
      world.pass(1_000);
      const responder = { name: 'mover', heartbeatAt: world.now, expectedAt: null, message: '' };
      world.requests = (world.requests ?? []).map((one) => ({ ...one, responder }));
      const pod = [...world.pods.values()].find(({ uid, name }) => {
        return name === 'op-0' && world.requests?.some(({ podUid }) => podUid === uid);
      });
      if (!pod) continue;
      moved += 1;
      world.remove(pod.uid);
      world.show({ ...pinned, uid: `again-${moved}` });
    }
    assert.equal(moved, 4);
    world.remove('shop/on-n1');
    world.pass(10_000);
    assert.match(world.state().blockers.join(), /op-0: came back 4 times: .*, and it stays/);
  });

  it('is asked for a bounded number of times, however late or lost answers are', () => {
    const answers = fc.array(
      fc.record({
        after: fc.constantFrom(0, 50, 40_000),
        outcome: fc.constantFrom('done', 'blocked', 'failed'),
        goes: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(0, 500),
        answers,
        (size, waits, moods) => {
          const pods = Array.from({ length: size }, (_, at) => ({ ...pinned, name: `op-${at}` }));
          const world = worldOf(pods, {}, waits);
          const left = [...moods];
          world.mishap = () => {
            const mood = left.shift();
            if (!mood) return null;
            const { after, outcome: kind, goes } = mood;
            if (kind === 'done') return { after, outcome: { kind }, goes: true };
            const said = { message: 'no', retryAfter: null };
            if (kind === 'blocked') return { after, outcome: { kind, ...said } };
            return { after, outcome: { kind: 'failed', status: null, ...said }, goes };
          };
          world.pass(24 * 3_600_000);
          const evictions = world.log.filter((one) => one.startsWith('evict')).length;
          assert.ok(evictions <= 4 * size, `${evictions} evictions of ${size} pods`);
          assert.ok(['Failed', 'Drained'].includes(world.state().phase), world.state().phase);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a pod that stays where a drain has ended', () => {
  it('is counted and named, unless a DaemonSet would start it again there', () => {
    const daemon = {
      ...pinned,
      name: 'agent',
      owner: { ...owner, kind: 'DaemonSet' },
      tolerations,
    };
    const op = { ...pinned, tolerations };
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1'], [op, daemon]);
    world.pass(10_000);
    const { phase, podsStaying, staying } = world.state();
    assert.deepEqual([phase, podsStaying], ['Drained', 1]);
    assert.match(staying, /^1 pod stays: shop\/op-0 \(.+\)$/);
    world.remove('shop/op-0');
    assert.equal(world.state().podsStaying, 0);
  });
});
