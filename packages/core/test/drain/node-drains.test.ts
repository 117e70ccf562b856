// NodeDrains from their making to their undoing, on a cluster that does at once what is asked for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Config, makeNode, parseTaint } from '@taintmgr/core';
import type { OtherEvictors } from '@taintmgr/core/drain';
import { policyOf } from '../policy/objects.ts';
import { drainOf, knownNode } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const whole = [
  ...['guard', 'taint n1', 'evict on-n1', 'end n1'],
  ...['taint n2', 'evict on-n2', 'end n2'],
];

describe('a NodeDrain', () => {
  it('drains its nodes in turn, and takes everything back when it is deleted', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'] });
    const world = new World(drain, ['n1', 'n2', 'n3']);
    world.pass(10_000);
    assert.deepEqual(world.log, whole);
    assert.equal(world.state().phase, 'Drained');
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'undo n2', 'let go']);
    assert.equal(world.pods.size, 1);
  });

  it('is undone by another leader too, which has only the marks on nodes', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'] });
    const world = new World(drain, ['n1', 'n2']);
    world.pass(10_000);
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.start();
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'undo n2', 'let go']);
  });

  it('goes on after a restart from its status: what is drained is not begun again', () => {
    const known = [knownNode('n1', 'Drained', { startedAt: 0, endedAt: 0 })];
    const status = { isGuarded: true, observedGeneration: 1, startedAt: 0, known };
    const world = new World(drainOf({ nodes: ['n1', 'n2'] }, status), ['n1', 'n2']);
    world.pass(10_000);
    assert.deepEqual(world.log, ['taint n2', 'evict on-n2', 'end n2']);
  });

  it('leaves a node alone whose pods must not go, and says which', () => {
    const drain = drainOf({ nodes: ['n1'], pods: {} });
    const world = new World(drain, ['n1']);
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard']);
    const { phase, blockers } = world.state();
    assert.equal(phase, 'Blocked');
    assert.match(blockers[0] ?? '', /^node n1: pod shop\/on-n1 is not managed by a controller/);
  });

  it('says that nobody lets it keep its object until it is undone', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    const message = 'nodedrains "kernel" is forbidden';
    cluster.answers.set('guard', { kind: 'failed', status: 403, message, retryAfter: null });
    cluster.pass(60_000);
    const { phase, blockers, nodes } = cluster.state();
    const why = `its finalizer is to be set first: ${message}`;
    assert.deepEqual([phase, blockers], ['Blocked', [why]]);
    const held = nodes.map((node) => [node.phase, node.reason, node.message]);
    assert.deepEqual(held, [
      ['Held', 'NotGuarded', why],
      ['Held', 'NotGuarded', why],
    ]);
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.deepEqual([cluster.state().phase, cluster.state().blockers], ['Drained', []]);
  });

  it('waits for the drain that has put the same taint on a node', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    const taints = [{ key: 'work', value: '', effect: 'NoSchedule', timeAdded: null }];
    const drainMarks = [{ id: 'other', taint: 'work:NoSchedule', by: 'alice' }];
    world.tell({ kind: 'nodeUpsert', node: { ...makeNode({ name: 'n1', taints }), drainMarks } });
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard']);
    assert.match(world.state().blockers[0] ?? '', /drain other has put work:NoSchedule on it/);
  });

  it('counts a taint that somebody puts on by hand, while the node waits, from then', () => {
    const tolerations = [{ key: 'work', operator: 'Exists', tolerationSeconds: 300 }];
    const world = new World(
      drainOf({ nodes: ['n1', 'n2'], limits: { nodesAtOnce: 1 } }),
      [{ name: 'n1' }, { name: 'n2' }],
      [
        { name: 'a', nodeName: 'n1', tolerations },
        { name: 'slow', nodeName: 'n2', tolerations },
      ],
    );
    world.pass(200_000);
    world.showNode(makeNode({ name: 'n2', taints: [parseTaint('work:NoSchedule')] }));
    world.pass(299_999);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'evict a', 'end n1', 'taint n2']);
    world.pass(1);
    assert.equal(world.log.includes('evict slow'), true);
  });

  it('does nothing on a replica that does not lead', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    world.tell({ kind: 'leadership', held: false });
    world.pass(10_000);
    assert.deepEqual(world.log, []);
  });
});

// A NodeDrain with a NoExecute taint, where others evict for it too, or may.
const taint = { key: 'work', effect: 'NoExecute' };
const text = 'kube-controller-manager (cp_1) evicts for NoExecute taints here, without asking PDBs';
const acts: OtherEvictors = { kind: 'acts', text, advice: 'stop it' };
const words = `${text}; use work:NoSchedule, for which nobody else evicts, or stop it`;

function worldOf(
  others: OtherEvictors | null,
  config: Partial<Config> = {},
  spec: object = {},
): World {
  const world = new World(drainOf({ nodes: ['n1'], taint, ...spec }), ['n1'], [], config);
  if (others) world.tell({ kind: 'otherEvictors', others });
  world.pass(10_000);
  return world;
}

describe('a NodeDrain with a NoExecute taint', () => {
  for (const kind of ['acts', 'unknown'] as const) {
    it(`does not begin where others evict for it (${kind}), says so, and begins when they do not`, () => {
      const world = worldOf({ ...acts, kind });
      const { phase, nodes, blockers } = world.state();
      assert.deepEqual([phase, blockers], ['Blocked', [`node n1: ${words}`]]);
      assert.equal(nodes[0]?.reason, 'OtherEvictors');
      assert.deepEqual(world.log, ['guard']);
      world.tell({ kind: 'otherEvictors', others: { kind: 'nobody', text: '', advice: '' } });
      world.pass(10_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('cordons nothing at its start either', () => {
    const world = worldOf(acts, {}, { cordon: 'AtStart' });
    assert.deepEqual(world.log, ['guard']);
  });

  it('with another effect is not concerned', () => {
    const world = worldOf(acts, {}, { taint: { key: 'work' } });
    assert.equal(world.state().phase, 'Drained');
  });

  it('does not begin beside our own evictions that ask no budgets', () => {
    const world = worldOf(null, { mode: 'delete' });
    assert.match(world.state().blockers.join(), /as its --mode is delete; use work:NoSchedule/);
  });

  for (const action of ['Delete', 'Upstream'] as const) {
    it(`does not begin where a policy deletes what it leaves (${action})`, () => {
      const world = new World(drainOf({ nodes: ['n1'], taint }), ['n1']);
      world.tell({ kind: 'policyUpsert', policy: policyOf('spot', { action }) });
      world.pass(10_000);
      assert.deepEqual(world.state().blockers, [
        'node n1: taintmgr-controller deletes the pods that the drain leaves, without asking PDBs, as ' +
          'EvictionPolicy spot says of pod shop/on-n1; use work:NoSchedule, for which nobody else evicts, ' +
          'or have the policy not match the taint',
      ]);
      world.tell({ kind: 'policyDelete', name: 'spot' });
      world.pass(10_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('begins where budgets are ignored, whatever a policy deletes', () => {
    const budgets = { policy: 'Ignore' };
    const world = new World(drainOf({ nodes: ['n1'], taint, budgets }), ['n1']);
    world.tell({ kind: 'policyUpsert', policy: policyOf('spot', { action: 'Delete' }) });
    world.pass(10_000);
    assert.ok(world.log.includes('taint n1'));
  });

  it('with takeover begins where the API server refuses the others all pods of the node', () => {
    const config = { takeover: true, lifecycle: null };
    const world = worldOf({ ...acts, isRefused: true }, config);
    assert.match(
      world.state().blockers.join(),
      /^node n1: namespace shop of pod on-n1 is not taken over, and there kube-controller-manager/,
    );
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    world.tell({ kind: 'namespaceUpsert', namespace: { name: 'shop', labels } });
    world.pass(10_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('with takeover does not begin while the policies are not in force', () => {
    const world = worldOf(acts, { takeover: true });
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    world.tell({ kind: 'namespaceUpsert', namespace: { name: 'shop', labels } });
    world.pass(10_000);
    assert.deepEqual(world.state().blockers, [`node n1: ${words}`]);
  });
});
