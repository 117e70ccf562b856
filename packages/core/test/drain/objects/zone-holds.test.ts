// A NodeDrain beside the node lifecycle, whose zone holds stop deadlines: all machines in one engine.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeInput } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

/** Two zones; none of the kubelets of `silent` is ready. */
class Zones extends World {
  silent: string | null = 'z1';

  constructor(drains: ConstructorParameters<typeof World>[0]) {
    const nodes = ['n1', 'n2', 'm1', 'm2'].map((name): NodeInput => {
      const zone = name.startsWith('n') ? 'z1' : 'z2';
      const labels = {
        'topology.kubernetes.io/region': 'r',
        'topology.kubernetes.io/zone': zone,
      };
      return { name, labels, zone: `r/${zone}`, conditions: [ready(zone !== 'z1', 0)] };
    });
    const lifecycle = { fullDisruption: 'hold', massUnreachable: null } as const;
    super(drains, nodes, [{ name: 'web', nodeName: 'n1' }], { lifecycle });
  }

  /** Lets time pass in which each kubelet says how it is. */
  live(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.pass(10_000)) {
      for (const node of [...this.nodes.values()]) {
        const isReady = !node.zone?.endsWith(this.silent ?? 'none');
        this.showNode({ ...node, conditions: [ready(isReady, this.now)] });
      }
    }
  }
}

function ready(isReady: boolean, at: number) {
  const status = isReady ? 'True' : 'False';
  return { type: 'Ready', status, reason: '', message: '', heartbeatAt: at, transitionAt: at };
}

describe('a NodeDrain in a zone whose deadlines stand still', () => {
  const drain = drainOf({ nodes: ['n1'] });
  const words = 'deadlines are paused by the hold of zone r/z1 until one of its nodes is ready';

  it('begins with no pod, and goes on when the zone is back', () => {
    const world = new Zones([]);
    world.pass(1_000);
    world.declare(drain);
    world.live(60_000);
    assert.deepEqual(world.state().blockers, [`pod shop/web: ${words}`]);
    assert.ok(!world.log.includes('evict web'), world.log.join());
    world.silent = null;
    world.live(120_000);
    assert.deepEqual([world.state().phase, world.state().blockers], ['Drained', []]);
  });

  for (const when of ['declared before', 'edited during']) {
    it(`${when} that, waits too`, () => {
      const world = new Zones(drain);
      world.silent = null;
      world.refuses.add('web');
      world.live(30_000);
      world.silent = 'z1';
      world.live(60_000);
      if (when === 'edited during') world.declare({ ...drain, generation: 2, isGuarded: true });
      world.refuses.clear();
      world.live(60_000);
      assert.ok(!world.log.includes('evict web'), world.log.join());
      world.silent = null;
      world.live(120_000);
      assert.deepEqual([world.state().phase, world.state().blockers], ['Drained', []]);
    });
  }
});
