// The conditions of nodes by which a NodeDrain says how far it is, and those of others.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const spec = { nodes: ['n1', 'n2'], nodeConditions: 'Publish' };
const alone = { ...spec, nodes: ['n1'] };

/** The conditions of a node in words, in their order. */
function saidOf(world: World, name: string): string {
  const { conditions = [] } = world.nodes.get(name) ?? assert.fail();
  return conditions
    .map(({ type, status, reason }) => `${type}=${status} ${reason}`)
    .sort()
    .join(', ');
}

/** The conditions that were written, in turn. */
const writesOf = ({ log }: World): readonly string[] => log.filter((line) => line.includes('='));

/** Lets time pass, until nothing more happens in the same instant. */
function settle(world: World): void {
  world.pass(10_000);
  world.now += 1_000;
  world.tell({ kind: 'tick' });
  world.pass(10_000);
}

describe('a NodeDrain that publishes conditions', () => {
  it('says of each node what is planned, in progress and done, and takes it back', () => {
    const drain = drainOf(spec);
    const world = new World(drain, ['n1', 'n2']);
    world.refuses.add('on-n1');
    settle(world);
    assert.equal(
      saidOf(world, 'n1'),
      'DrainInProgress=True NodeDrain, MaintenancePlanned=True NodeDrain',
    );
    assert.equal(saidOf(world, 'n2'), 'MaintenancePlanned=True NodeDrain');
    world.refuses.clear();
    for (let i = 0; i < 10; i += 1) settle(world);
    for (const name of ['n1', 'n2']) {
      assert.match(
        saidOf(world, name),
        /Drained=True NodeDrain, MaintenancePlanned=True NodeDrain$/,
      );
      assert.doesNotMatch(saidOf(world, name), /DrainInProgress=True/);
    }
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    for (let i = 0; i < 10; i += 1) settle(world);
    assert.equal(world.log.at(-1), 'let go');
    assert.doesNotMatch(saidOf(world, 'n1') + saidOf(world, 'n2'), /True/);
  });

  it('does not call a node drained while pods stay there', () => {
    const tolerations = [{ key: 'work', operator: 'Exists' }];
    const pods = [
      { name: 'op', nodeName: 'n1', uid: 'op', tolerations },
      { name: 'web', nodeName: 'n1' },
    ];
    const world = new World(drainOf(alone), [{ name: 'n1' }], pods);
    for (let i = 0; i < 5; i += 1) settle(world);
    assert.equal(world.state().phase, 'Drained');
    assert.doesNotMatch(saidOf(world, 'n1'), /(Drained|DrainInProgress)=True/);
    assert.equal(world.engine.nextWake(), null, 'what has ended costs nothing');
    world.remove('op');
    settle(world);
    assert.equal(world.state().podsStaying, 0);
    assert.match(saidOf(world, 'n1'), /Drained=True/);
  });

  it('takes back what an earlier leader has said', () => {
    const drain = drainOf(spec);
    const world = new World(drain, ['n1', 'n2']);
    for (let i = 0; i < 10; i += 1) settle(world);
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.start();
    for (let i = 0; i < 10; i += 1) settle(world);
    assert.equal(world.log.at(-1), 'let go');
    assert.doesNotMatch(saidOf(world, 'n1') + saidOf(world, 'n2'), /True/);
  });

  it('takes back those of all its nodes before its object goes, however many they are', () => {
    const names = Array.from({ length: 25 }, (_, index) => `n${index}`);
    const drain = drainOf({ ...spec, nodes: names, paused: true });
    const world = new World(drain, names);
    settle(world);
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    settle(world);
    assert.equal(world.log.at(-1), 'let go');
    for (const name of names)
      assert.equal(saidOf(world, name), 'MaintenancePlanned=False NodeDrain');
  });

  it('tries again what was refused, and is not kept by that when it is undone', () => {
    const drain = drainOf({ ...alone, paused: true });
    const world = new World(drain, ['n1']);
    const busy = { kind: 'failed', status: 500, message: 'busy', retryAfter: null } as const;
    world.conditions = busy;
    settle(world);
    assert.equal(saidOf(world, 'n1'), '');
    world.conditions = { kind: 'done' };
    world.pass(60_000);
    assert.equal(saidOf(world, 'n1'), 'MaintenancePlanned=True NodeDrain');
    world.conditions = busy;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.pass(60_000);
    assert.equal(world.log.at(-1), 'let go');
  });

  it('does not fight who sets one back', () => {
    const world = new World(drainOf(alone), ['n1']);
    world.refuses.add('on-n1');
    settle(world);
    const n1 = world.nodes.get('n1') ?? assert.fail();
    const conditions = (n1.conditions ?? []).map((one) => ({ ...one, status: 'False' }));
    world.nodes.set('n1', { ...n1, conditions });
    world.tell({ kind: 'nodeUpsert', node: { ...n1, conditions } });
    world.log.length = 0;
    for (let i = 0; i < 5; i += 1) settle(world);
    assert.deepEqual(writesOf(world), []);
  });

  for (const nodeConditions of ['Publish', undefined])
    it(`does not begin a node that somebody else drains by them: ${nodeConditions ?? 'left out'}`, () => {
      const world = new World(
        drainOf({ nodes: ['n1'], ...(nodeConditions && { nodeConditions }) }),
        ['n1'],
      );
      const given = { reason: 'KubectlDrain', message: '', heartbeatAt: null, transitionAt: null };
      const progress = { ...given, type: 'DrainInProgress', status: 'True' };
      const drained = { ...given, type: 'Drained', status: 'True' };
      const n1 = world.nodes.get('n1') ?? assert.fail();
      world.nodes.set('n1', { ...n1, conditions: [progress] });
      world.start();
      settle(world);
      assert.equal(world.log.includes('taint n1'), false);
      const words =
        'node n1: its condition DrainInProgress is True (KubectlDrain): another program drains it; nodeConditions: Ignore begins anyway';
      assert.deepEqual(world.state().blockers, [words]);
      world.nodes.set('n1', { ...n1, conditions: [progress, drained] });
      world.tell({ kind: 'nodeUpsert', node: { ...n1, conditions: [progress, drained] } });
      settle(world);
      assert.ok(world.log.includes('taint n1'));
    });

  it('says the same of another node that comes under the name of one', () => {
    const pool = { matchLabels: { pool: 'blue' } };
    const labels = { pool: 'blue' };
    const drain = drainOf({ nodeSelector: pool, nodeConditions: 'Publish', paused: true });
    const world = new World(drain, [{ name: 'n1', labels }]);
    settle(world);
    const planned = 'MaintenancePlanned=True NodeDrain';
    assert.equal(saidOf(world, 'n1'), planned);
    world.tell({ kind: 'nodeDelete', name: 'n1' });
    world.showNode(makeNode({ name: 'n1', uid: 'another', labels }));
    settle(world);
    assert.equal(saidOf(world, 'n1'), planned);
  });

  it('says nothing, and heeds nothing, where it is to ignore them', () => {
    const world = new World(drainOf({ nodes: ['n1'], nodeConditions: 'Ignore' }), ['n1']);
    const given = { reason: 'KubectlDrain', message: '', heartbeatAt: null, transitionAt: null };
    const conditions = [{ ...given, type: 'DrainInProgress', status: 'True' }];
    world.showNode({ ...(world.nodes.get('n1') ?? assert.fail()), conditions });
    settle(world);
    assert.equal(world.state().phase, 'Drained');
    assert.deepEqual(writesOf(world), []);
  });
});
