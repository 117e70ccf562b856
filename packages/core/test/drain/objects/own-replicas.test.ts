// Replicas of the controller on nodes that are drained, where others are asked for them as well.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { bad, namespace, nodeOf, readyIs, replica } from '../../replica-town.ts';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

describe('a NodeDrain of nodes with replicas of the controller', () => {
  for (const nodesAtOnce of [0, 1]) {
    it(`requests the eviction of one replica at a time, ${nodesAtOnce || 'all'} nodes at once`, () => {
      const nodes = ['n1', 'n2', 'n3'].map((name) => ({ name, conditions: readyIs('True') }));
      const pods = [replica('a', 'n1'), replica('b', 'n2')];
      const drain = drainOf({
        nodes: ['n1', 'n2'],
        limits: { nodesAtOnce },
        pods: { evictBy: 'EvictionRequest' },
        tolerations: 'Ignore',
      });
      const world = new World(drain, nodes, pods, { ownPod: { namespace, name: 'a' } });
      const answer = (): void => {
        const responder = { name: 'mover', heartbeatAt: world.now, expectedAt: null, message: '' };
        world.requests = (world.requests ?? []).map((one) => ({ ...one, responder }));
      };
      const asked = (): readonly string[] =>
        world.log.filter((line) => /^(request|withdraw|evict)/.test(line));
      for (let minutes = 0; minutes < 10; minutes += 1) {
        world.pass(30_000);
        answer();
        world.pass(30_000);
      }
      assert.deepEqual(asked(), ['request a']);
      // The other one is not ready any more: ours is the last, and nobody is to move it.
      world.show({ ...replica('b', 'n2'), ready: 'False' });
      world.pass(5_000);
      assert.deepEqual(asked().slice(1).toSorted(), ['request b', 'withdraw of-a']);
      world.remove(`${namespace}/b`);
      world.show(replica('c', 'n3'));
      world.pass(30_000);
      assert.deepEqual(asked().slice(3).toSorted(), ['request a', 'withdraw of-b']);
      world.remove(`${namespace}/a`);
      world.pass(30_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('keeps the other while one of two requests for ours is open, though one was refused', () => {
    const nodes = ['n1', 'n2'].map((name) => ({ name, conditions: readyIs('True') }));
    const pods = [replica('a', 'n1'), replica('b', 'n2')].map((pod) => ({
      ...pod,
      tolerations: [],
    }));
    const refused: Outcome = { kind: 'blocked', message: 'a budget', retryAfter: null };
    const answers = [
      { outcome: refused, after: 100 },
      { outcome: { kind: 'done' }, after: 3_000, goes: true },
    ] as const;
    let asked = 0;
    const config = { mode: 'evict', ownPod: { namespace, name: 'a' } } as const;
    const world = new World(drainOf({ nodes: ['n1'] }), nodes, pods, config);
    const taint = (name: string): void => {
      const node = world.nodes.get(name) ?? assert.fail();
      world.showNode({ ...node, taints: nodeOf(name, [bad]).taints });
    };
    world.mishap = ({ name }) => {
      asked += Number(name === 'a');
      return name === 'a' ? (answers[asked - 1] ?? { outcome: refused, after: 10 }) : null;
    };
    taint('n1');
    world.pass(1_000);
    assert.ok(asked > 1);
    taint('n2');
    world.pass(1_000);
    assert.ok(!world.log.includes('evict b'), world.log.join());
    world.pass(5_000);
    assert.ok(world.log.includes('evict a'));
  });

  it('goes to rest while a replica terminates that two have asked to go', () => {
    const nodes = ['n1', 'n2'].map((name) => ({ name, conditions: readyIs('True') }));
    const x = { ...replica('x', 'n1'), tolerations: [] };
    const drain = drainOf({ nodes: ['n1'], pods: { evictBy: 'EvictionRequest' } });
    const config = { mode: 'evict', ownPod: { namespace, name: 'a' } } as const;
    const world = new World(drain, nodes, [replica('a', 'n2'), x], config);
    world.pass(1_000);
    assert.ok(world.log.includes('request x'));
    world.mishap = () => ({ outcome: { kind: 'done' }, after: 0 });
    const node = world.nodes.get('n1') ?? assert.fail();
    world.showNode({ ...node, taints: [...node.taints, ...nodeOf('n1', [bad]).taints] });
    world.pass(1_000);
    world.show({ ...x, generation: 2, deletionTimestamp: world.now });
    for (let ticks = 0; ticks < 20; ticks += 1) world.tell({ kind: 'tick' });
    assert.ok((world.engine.nextWake() ?? Number.POSITIVE_INFINITY) > world.now);
  });
});
