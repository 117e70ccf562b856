// A NodeDrain with a NoExecute taint, where others evict for it too, or may.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Config } from '@taintmgr/core';
import type { OtherEvictors } from '@taintmgr/core/drain';
import { policyOf } from '../../policy/objects.ts';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

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
