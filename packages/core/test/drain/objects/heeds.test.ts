// What a NodeDrain heeds of others by choice: annotations of pods, and a label of nodes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodInput } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const safeToEvict = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const doNotDisrupt = 'karpenter.sh/do-not-disrupt';
const both = [safeToEvict, doNotDisrupt];

function worldOf(podAnnotations: readonly string[], pod: Partial<PodInput>): World {
  const drain = drainOf({ nodes: ['n1'], heeds: { podAnnotations } });
  const web = { name: 'web', nodeName: 'n1' };
  return new World(drain, [{ name: 'n1' }], [web, { ...web, name: 'batch', ...pod }]);
}

describe('a NodeDrain and annotations of others', () => {
  for (const [pod, words] of [
    [{ unsafeToEvict: true }, `its annotation ${safeToEvict} is false`],
    [{ doNotDisrupt: true }, `its annotation ${doNotDisrupt} is true`],
  ] as const) {
    it(`holds a pod where ${words}, and no other`, () => {
      const world = worldOf(both, pod);
      world.pass(60_000);
      assert.deepEqual(world.log, ['guard', 'taint n1', 'evict web']);
      assert.deepEqual(world.state().blockers, [`pod shop/batch: ${words}`]);
      assert.equal(world.state().phase, 'Blocked');
    });

    it(`lets it go where it heeds the other one only, ${words}`, () => {
      const [one = ''] = both.filter((key) => !words.includes(key));
      const world = worldOf([one], pod);
      world.pass(60_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('lets it go when the annotation is taken off', () => {
    const world = worldOf(both, { doNotDisrupt: true });
    world.pass(60_000);
    world.add({ name: 'batch', nodeName: 'n1' });
    for (const pod of world.pods.values()) world.tell({ kind: 'podUpsert', pod });
    world.pass(60_000);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'evict web', 'evict batch', 'end n1']);
  });

  it('does not name it any more when it is taken off while a gate holds the pods', () => {
    const open = {
      apiVersion: 'v1',
      kind: 'Node',
      name: 'n2',
      annotation: { key: 'a', value: 'b' },
    };
    const gates = [{ name: 'weekend', object: open }];
    const spec = { nodes: ['n1'], gates, whileClosed: 'HoldPods', heeds: { podAnnotations: both } };
    const pod = { name: 'batch', nodeName: 'n1' };
    const world = new World(drainOf(spec), [{ name: 'n1' }], [{ ...pod, doNotDisrupt: true }]);
    world.pass(10_000);
    assert.match(JSON.stringify(world.state().pods), /its annotation/);
    world.answers = () => ({ kind: 'changed', message: 'it is closed' });
    world.pass(10_000);
    world.show(pod);
    world.pass(1_000);
    assert.deepEqual(world.log, ['guard', 'taint n1']);
    assert.doesNotMatch(JSON.stringify(world.state().pods), /its annotation/);
  });
});

describe('a NodeDrain and the label that pauses nodes', () => {
  const labels = { 'example.com/keep': '' };
  const spec = { nodes: ['n1', 'n2'], heeds: { pauseLabel: 'example.com/keep' } };
  const pods = ['n1', 'n2'].map((nodeName) => ({ name: `on-${nodeName}`, nodeName }));

  it('leaves out a node that has it until it is taken off', () => {
    const world = new World(drainOf(spec), [{ name: 'n1', labels }, { name: 'n2' }], pods);
    world.pass(60_000);
    assert.deepEqual(world.log, ['guard', 'taint n2', 'evict on-n2', 'end n2']);
    assert.deepEqual(world.state().blockers, ['node n1: it has the label example.com/keep']);
    const n1 = world.nodes.get('n1') ?? assert.fail();
    world.nodes.set('n1', { ...n1, labels: {} });
    world.tell({ kind: 'nodeUpsert', node: { ...n1, labels: {} } });
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('sends no further pod away from a node that gets it', () => {
    const world = new World(drainOf(spec), [{ name: 'n1' }, { name: 'n2' }], pods);
    world.refuses.add('on-n1');
    world.pass(10_000);
    const n1 = world.nodes.get('n1') ?? assert.fail();
    world.nodes.set('n1', { ...n1, labels });
    world.tell({ kind: 'nodeUpsert', node: { ...n1, labels } });
    world.refuses.clear();
    world.pass(600_000);
    assert.equal(world.log.includes('evict on-n1'), false);
    assert.equal(world.state().nodes[0]?.reason, 'NodePaused');
  });
});
