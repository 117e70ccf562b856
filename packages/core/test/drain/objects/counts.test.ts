// How many pods and nodes a NodeDrain counts, over changes of leader and over nodes that come and go.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode } from '@taintmgr/core';
import { drainOf, World } from './world.ts';

describe('the pods that have left', () => {
  it('are counted though nobody led when they went', () => {
    const names = Array.from({ length: 9 }, (_, index) => `web-${index}`);
    const world = new World(
      drainOf({ nodes: ['n1'] }),
      [{ name: 'n1' }],
      names.map((name) => ({ name, nodeName: 'n1' })),
    );
    for (const name of names.slice(2)) world.refuses.add(name);
    world.pass(10_000);
    assert.deepEqual([world.state().podsGone, world.state().podsLeft], [2, 7]);
    for (const name of names.slice(2, 5)) world.failOver(() => world.lose(name));
    world.refuses.clear();
    world.pass(60_000);
    assert.deepEqual([world.state().podsGone, world.state().phase], [9, 'Drained']);
  });
});

describe('nodes that come, are drained and go', () => {
  it('are forgotten, and their pods are counted', () => {
    const selector = { nodeSelector: { matchLabels: { pool: 'spot' } }, laterNodes: 'Drain' };
    const labels = { pool: 'spot' };
    const drain = drainOf({ ...selector, limits: { nodesAtOnce: 0 } });
    const world = new World(drain, [{ name: 'first', labels }]);
    world.pass(1_000);
    const rounds = 1_005;
    for (let round = 1; round <= rounds; round += 1) {
      const name = `spot-${round}`;
      world.showNode(makeNode({ name, uid: name, labels, createdAt: world.now }));
      world.show({ name: `on-${name}`, nodeName: name, boundAt: world.now });
      world.pass(1_000);
      world.nodes.delete(name);
      world.tell({ kind: 'nodeDelete', name });
      if (round % 400 === 0) world.failOver();
    }
    const { phase, blockers, nodes, podsGone } = world.state();
    assert.deepEqual([phase, blockers, podsGone], ['Drained', [], rounds]);
    assert.ok(nodes.length <= 101, `${nodes.length} nodes`);
  });
});
