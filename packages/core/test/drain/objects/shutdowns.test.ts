// What NodeDrains leave to a kubelet whose node shuts down.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const web = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const nodes = [{ name: 'n1' }];

function evictedIn(world: World): readonly string[] {
  return world.log.flatMap((line) => (line.startsWith('evict') ? line.slice(6) : []));
}

describe('a node that shuts down', () => {
  const shutdown = {
    type: 'Ready',
    status: 'False',
    reason: 'KubeletNotReady',
    message: 'node is shutting down',
    heartbeatAt: null,
    transitionAt: null,
  };

  it('is not begun, and its pods are left to the kubelet', () => {
    const down = { name: 'n1', conditions: [shutdown] };
    const world = new World(
      drainOf({ nodes: ['n1'] }),
      [down],
      [{ name: 'web-0', nodeName: 'n1', owner: web }],
    );
    world.pass(60_000);
    assert.deepEqual(world.log, ['guard']);
    assert.deepEqual(world.state().blockers, [
      'node n1: it shuts down, and the kubelet ends its pods',
    ]);
  });

  it('keeps the pods that are left when it begins to', () => {
    const world = new World(drainOf({ nodes: ['n1'], limits: { podsAtOnce: 1 } }), nodes, [
      { name: 'web', nodeName: 'n1', owner: web },
    ]);
    world.refuses.add('web');
    world.pass(1_000);
    const node = world.nodes.get('n1') ?? assert.fail();
    world.refuses.clear();
    world.showNode({ ...node, conditions: [shutdown] });
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), []);
    const unknown = { ...shutdown, status: 'Unknown' };
    world.showNode({ ...node, conditions: [unknown] });
    world.pass(10_000);
    assert.deepEqual(evictedIn(world), ['web']);
  });
});
