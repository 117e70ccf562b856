import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Config, createEngine, type Pod } from '@taintmgr/core';
import type { LimitRule } from '@taintmgr/core/policy';
import { World } from './limit-world.ts';

const perZone: LimitRule = { per: 'zone', percent: 20, onLimit: 'queue' };

/** Ten nodes of a zone with ten pods each, all up. */
function zone(limit: LimitRule, options: Partial<Config> = {}): World {
  const world = new World(createEngine({ limits: [limit], ...options }));
  for (let node = 0; node < 10; node++) {
    world.node(`n${node}`);
    for (let pod = 0; pod < 10; pod++) world.pod(`shop/web-${node}-${pod}`, `n${node}`);
  }
  world.tell({ kind: 'synced' });
  return world;
}

describe('the blast radius of a wrong taint', () => {
  it('is a fifth of a zone in ten minutes, though the taint spreads every 2 s', () => {
    const world = zone(perZone);
    for (let node = 0; node < 10; node++) {
      world.taint(`n${node}`, 'wrong');
      world.pass(2);
    }
    world.pass(300);
    assert.equal(world.evicted.length, 20);
  });

  it('trips at a tenth of the cluster, and stays shut', () => {
    const world = zone({ per: 'total', percent: 10, onLimit: 'trip' });
    for (let node = 0; node < 10; node++) {
      world.taint(`n${node}`, 'wrong');
      world.pass(2);
    }
    world.pass(3600);
    assert.equal(world.evicted.length, 10);
  });

  it('is a number of pods too', () => {
    const world = zone({ per: 'namespace', pods: 7, windowMs: 60_000, onLimit: 'queue' });
    for (let node = 0; node < 10; node++) world.taint(`n${node}`, 'wrong');
    world.pass(59);
    assert.equal(world.evicted.length, 7);
    world.pass(60);
    assert.equal(world.evicted.length, 14);
  });

  it('is not enlarged by the pods that come in the place of those that went', () => {
    const world = zone(perZone);
    world.node('n10');
    world.onGone = (name, at) => world.pod(`${name}-again`, 'n10', { boundAt: at });
    for (let node = 0; node < 10; node++) {
      world.taint(`n${node}`, 'wrong');
      world.pass(2);
    }
    world.pass(300);
    assert.equal(world.evicted.length, 20);
  });

  it('counts pods that are down already, and lets those of them go first that are due', () => {
    const world = zone(perZone);
    for (let pod = 0; pod < 10; pod++) world.pod(`shop/web-9-${pod}`, 'n9', { ready: 'False' });
    for (let pod = 0; pod < 5; pod++) world.pod(`shop/web-8-${pod}`, 'n8', { ready: 'False' });
    world.taint('n0', 'wrong');
    world.taint('n9', 'wrong');
    world.pass(60);
    const upPods = world.evicted.filter((name) => name.startsWith('shop/web-0'));
    assert.equal(upPods.length, 5, '15 of 100 were down');
    const downPods = world.evicted.filter((name) => name.startsWith('shop/web-9'));
    assert.equal(downPods.length, 10);
  });

  it('is not used up by pods that a tenant binds to a tainted node, nor tripped', () => {
    const world = zone({ per: 'total', pods: 10, onLimit: 'trip' });
    world.taint('n0', 'maintenance');
    world.pass(5);
    assert.equal(world.evicted.length, 10);
    const late: Partial<Pod> = { boundAt: world.now };
    for (let pod = 0; pod < 14; pod++) world.pod(`tenant/late-${pod}`, 'n0', late);
    world.pass(5);
    assert.equal(world.evicted.length, 24, 'who comes after the taint goes');
    assert.deepEqual(world.tripped(), []);
    world.pass(600);
    world.taint('n1', 'maintenance');
    world.pass(5);
    assert.equal(world.evicted.length, 34);
  });

  it('is not used up by pods that a budget holds back', () => {
    const world = zone({ per: 'total', pods: 10, onLimit: 'queue' }, { mode: 'evict' });
    world.outcome = (name) =>
      name.startsWith('shop/web-0')
        ? { kind: 'blocked', message: 'a budget', retryAfter: null }
        : null;
    world.taint('n0', 'wrong');
    world.pass(10);
    world.taint('n1', 'wrong');
    world.pass(60);
    assert.equal(world.evicted.length, 10);
  });
});

describe('a limit', () => {
  it('is shared between namespaces in turn, however many pods one of them has', () => {
    const world = new World(
      createEngine({ limits: [{ per: 'total', podsPerSecond: 1, onLimit: 'queue' }] }),
    );
    world.node('n');
    for (let pod = 0; pod < 50; pod++) world.pod(`many/a-${String(pod).padStart(2, '0')}`, 'n');
    for (const name of ['few/x', 'few/y', 'other/z']) world.pod(name, 'n');
    world.tell({ kind: 'synced' });
    world.taint('n', 'wrong');
    world.pass(6);
    const first = ['few/x', 'many/a-00', 'other/z', 'few/y', 'many/a-01', 'many/a-02'];
    assert.deepEqual(world.evicted.slice(0, 6), first);
  });

  it('counts by workload, and by the labels of nodes', () => {
    const spot = { matchLabels: { pool: 'spot' } };
    const world = new World(
      createEngine({
        limits: [
          { per: 'workload', pods: 1, onLimit: 'queue' },
          { per: 'total', nodes: spot, pods: 3, onLimit: 'queue' },
        ],
      }),
    );
    world.node('spot', { labels: { pool: 'spot' } });
    world.node('other');
    for (const [index, node] of ['spot', 'spot', 'spot', 'spot', 'other', 'other'].entries()) {
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `rs-${index}` };
      world.pod(`shop/one-${index}`, node, { owner });
      world.pod(`shop/two-${index}`, node, { owner });
    }
    world.tell({ kind: 'synced' });
    world.taint('spot', 'wrong');
    world.taint('other', 'wrong');
    world.pass(60);
    const gone = ['shop/one-0', 'shop/one-1', 'shop/one-2', 'shop/one-4', 'shop/one-5'];
    assert.deepEqual([...world.evicted].sort(), gone);
  });
});
