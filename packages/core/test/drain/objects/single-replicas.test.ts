// Pods that are the only one of their Deployment: another one is started before they go.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeInput, PodInput } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const web = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const db = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const nodes: readonly NodeInput[] = ['n1', 'n2', 'n3', 'spare'].map((name) => ({ name }));

function pods(owner: typeof web, count: number, other: Partial<PodInput> = {}): PodInput[] {
  return Array.from({ length: count }, (_, at) => {
    return { name: `${owner.name}-${at}`, nodeName: `n${(at % 3) + 1}`, owner, ...other };
  });
}

describe('pods.singleReplicas', () => {
  const single = { withoutController: true, singleReplicas: 'RolloutRestart' };
  const spec = { nodes: ['n1', 'n2'], pods: single, timeouts: { rollout: '5m' } };
  const one = { name: 'web-0', nodeName: 'n1', owner: web };

  function doings(world: World): readonly string[] {
    return world.log.filter((line) => /^(restart|evict)/.test(line));
  }

  it('promises no other pod while nobody knows whether the Deployment can start one', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    world.restarts = { kind: 'failed', status: 503, message: 'busy', retryAfter: null };
    world.pass(10_000);
    const [left] = world.state().pods;
    assert.equal(
      left?.hold,
      'its Deployment is asked whether it can start another pod first, by 1970-01-01T00:05:00Z: busy',
    );
  });

  it('waits until the Deployment has put another pod in the place of its only one', () => {
    const world = new World(drainOf(spec), nodes, [one, ...pods(db, 2)]);
    world.pass(30_000);
    assert.deepEqual(doings(world), ['evict db-0', 'restart web']);
    const [left] = world.state().pods;
    assert.equal(
      left?.hold,
      'its Deployment is to start another pod first, by 1970-01-01T00:05:00Z',
    );
    world.show({ ...one, deletionTimestamp: world.now + 30_000 });
    world.pass(1_000);
    world.remove('shop/web-0');
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
    assert.deepEqual(doings(world), ['evict db-0', 'restart web', 'evict db-1']);
  });

  it('restarts no Deployment again that starts its pod on the same node', () => {
    const [ours, anew] = ['web-bcdfg', 'web-ghjkl'].map((name, at) => {
      const labels = { 'pod-template-hash': name.slice(4) };
      return { ...one, name: `web-${at}`, owner: { ...web, name }, labels };
    });
    assert.ok(ours && anew);
    const world = new World(drainOf(spec), nodes, [ours]);
    world.pass(2_000);
    world.show(anew);
    world.remove('shop/web-0');
    world.pass(1_000);
    assert.deepEqual(doings(world), ['restart web-bcdfg', 'evict web-1']);
  });

  it('evicts the pod when that takes too long', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    world.pass(299_000);
    assert.deepEqual(doings(world), ['restart web']);
    world.pass(2_000);
    assert.deepEqual(doings(world), ['restart web', 'evict web-0']);
  });

  it('evicts the pod when its time is over, to the millisecond', () => {
    const timed = drainOf({ ...spec, timeouts: { rollout: '301s' } });
    const world = new World(timed, nodes, [one]);
    world.pass(300_999);
    assert.deepEqual(doings(world), ['restart web']);
    world.pass(1);
    assert.deepEqual(doings(world), ['restart web', 'evict web-0']);
  });

  for (const [what, outcome] of [
    ['its Deployment cannot do that', { kind: 'changed', message: 'Deployment web is paused' }],
    ['it has no Deployment', { kind: 'gone' }],
  ] as const) {
    it(`evicts it where ${what}`, () => {
      const world = new World(drainOf(spec), nodes, [one]);
      world.restarts = outcome;
      world.pass(1_000);
      assert.deepEqual(doings(world), ['restart web', 'evict web-0']);
    });
  }

  it('restarts nothing for a pod that goes by itself meanwhile', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    world.restarts = { kind: 'failed', status: 500, message: 'busy', retryAfter: null };
    world.pass(5_000);
    world.show({ ...one, deletionTimestamp: 600_000 });
    const before = doings(world).length;
    world.pass(120_000);
    assert.equal(doings(world).length, before);
  });

  it('tries again for as long as there is time, and says what is wrong', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    const message = 'deployments.apps "web" is forbidden';
    world.restarts = { kind: 'failed', status: 403, message, retryAfter: null };
    world.pass(100_000);
    assert.match(world.state().pods[0]?.hold ?? '', /by 1970-01-01T00:05:00Z: .* is forbidden$/);
    assert.ok(doings(world).length > 3);
    world.pass(210_000);
    assert.equal(doings(world).at(-1), 'evict web-0');
  });

  it('leaves those alone that have more pods, are not ready, or nobody cordoned their node', () => {
    for (const [others, more] of [
      [[{ name: 'web-1', nodeName: 'spare', owner: web }], {}],
      [[{ ...one, ready: 'False' }], {}],
      [[], { cordon: 'Never' }],
      [[], { pods: { withoutController: true } }],
    ] as const) {
      const world = new World(drainOf({ ...spec, ...more }), nodes, [one, ...others]);
      world.pass(1_000);
      assert.deepEqual(doings(world), ['evict web-0']);
    }
  });
});
