// The API server denies something to a NodeDrain.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodInput } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { runDrainScript } from './script.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const denied = {
  kind: 'failed',
  status: 403,
  message: 'change freeze until Monday',
  retryAfter: null,
} as const;

describe('a NodeDrain whose evictions are denied', () => {
  it('says why, counts the pods that are left, and begins no further node', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2', 'n3'] })], ['n1', 'n2', 'n3']);
    for (const name of ['n1', 'n2', 'n3']) cluster.answers.set(`evict on-${name}`, denied);
    cluster.pass(60_000);
    const { phase, podsLeft, pods, blockers, nodes } = cluster.state();
    assert.deepEqual([phase, podsLeft, pods[0]?.pod], ['Failed', 3, 'shop/on-n1']);
    assert.deepEqual(blockers, [
      'node n1: pod shop/on-n1: change freeze until Monday',
      'node n2: not begun: nothing was allowed on node n1',
      'node n3: not begun: nothing was allowed on node n1',
    ]);
    assert.deepEqual(
      nodes.map(({ reason }) => reason),
      ['Denied', 'NotBegun', 'NotBegun'],
    );
    assert.deepEqual(cluster.traces(), ['n1 cordon work mark of kernel']);
    cluster.restart();
    assert.deepEqual(cluster.state().blockers, blockers);
  });

  it('does not take for allowed what was leaving before it began', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.addPod('old', 'n1', { deletionTimestamp: 30_000 });
    cluster.start();
    cluster.answers.set('evict on-n1', denied);
    cluster.pass(3_000);
    cluster.deletePod('old');
    cluster.pass(60_000);
    const reasons = cluster.state().nodes.map(({ reason }) => reason);
    assert.deepEqual(reasons, ['Denied', 'NotBegun']);
  });

  it('goes on where others of the node were allowed', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.addPod('db', 'n1');
    cluster.answers.set('evict db', denied);
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    assert.equal(cluster.state().podsLeft, 1);
  });

  for (const how of ['a restart', 'an edit'] as const) {
    it(`goes on where others of the node were allowed before ${how}`, () => {
      const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
      cluster.addPod('db', 'n1');
      cluster.answers.set('evict db', { kind: 'blocked', message: 'not yet', retryAfter: null });
      cluster.pass(10_000);
      if (how === 'a restart') cluster.restart();
      else cluster.edit({ limits: { podsAtOnce: 5 } });
      cluster.answers.set('evict db', denied);
      cluster.pass(120_000);
      assert.equal(cluster.phases(), 'n1 Failed, n2 Drained');
    });
  }

  it('begins no node that comes later, under the next leader neither', () => {
    for (const isNext of [false, true]) {
      const nodeSelector = { matchLabels: { pool: 'blue' } };
      const spec = { nodes: undefined, nodeSelector, laterNodes: 'Drain' };
      const cluster = new SharedCluster([drainOf(spec)], ['blue@n1']);
      cluster.answers.set('evict on-n1', denied);
      cluster.pass(60_000);
      if (isNext) cluster.restart();
      cluster.addNode('blue@n2');
      cluster.pass(60_000);
      assert.equal(cluster.phases(), 'n1 Failed, n2 Failed');
    }
  });

  it('tries all of them again once it is edited', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('evict on-n1', denied);
    cluster.pass(60_000);
    cluster.answers.clear();
    cluster.edit({});
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained, n2 Drained');
  });
});

describe('a NodeDrain to which writes on nodes are denied', () => {
  it('begins no further node where the first could not be tainted', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    cluster.answers.set('taint n1', denied);
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Failed, n2 Failed');
    assert.equal(cluster.state().nodes[0]?.message, 'change freeze until Monday');
    assert.deepEqual(cluster.traces(), []);
  });

  it('goes on when it may show again that it is at work, and says so until then', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1'] })], ['n1']);
    const budget = { kind: 'blocked', message: 'not yet', retryAfter: null } as const;
    cluster.answers.set('evict on-n1', budget);
    cluster.pass(5_000);
    cluster.answers.set('renew n1', denied);
    cluster.pass(300_000);
    const said = 'node n1 could not be written, trying again: change freeze until Monday';
    assert.ok(cluster.state().blockers.includes(said));
    cluster.answers.delete('renew n1');
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Draining');
    assert.ok(!cluster.state().blockers.includes(said));
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.equal(cluster.phases(), 'n1 Drained');
  });
});

// In a drain as well: a namespace whose evictions are answered late holds up no other.
it('a drain evicts the pods of a namespace beside one whose evictions are answered late', () => {
  const podsOf = (namespace: string, count: number, tolerates = ''): readonly string[] =>
    Array.from(
      { length: count },
      (_, index) => `0 pod ${namespace}/${namespace}-${index + 10} n1${tolerates}`,
    );
  const script = [
    'drain m:NoExecute n1 {}',
    '0 node n1 m:NoExecute@0',
    ...podsOf('hang', 40),
    ...podsOf('calm', 5, ' for m:NoExecute 3'),
    '0 synced',
    '3 tick',
    '4.1 tick',
    '4.2 done calm/calm-10',
    '4.3 tick',
  ];
  const played = runDrainScript(script.join('\n'));
  const until = (time: string): string => played.slice(0, played.indexOf(`\n${time}`));
  const sent = (text: string, namespace: string): number =>
    text.match(new RegExp(`evictPod .*${namespace}/`, 'g'))?.length ?? 0;
  assert.equal(sent(until('3 tick'), 'hang'), 16, played);
  assert.equal(sent(until('4.2 done'), 'calm'), 4, played);
  assert.equal(sent(played, 'calm'), 5);
  assert.equal(sent(played, 'hang'), 16);
});

// NodeDrains leave pods to a kubelet whose node shuts down.
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

// A NodeDrain heeds by choice annotations of pods and a label of nodes.
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
