// The next version of definitions and controllers and the way back, under load, while evictions are pending: what the
// API server carries out is judged. The next version is made of the sources: see next-version.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Program, until } from '../drain/programs.ts';
import { type Version, VersionsWorld } from './versions-world.ts';

const timeout = 300_000;
const podsMax = 6;
const newFields = [
  ['EvictionPolicy', 'hold', 'hold'],
  ['EvictionPause', 'paused', 'ticket'],
  ['NodeDrain', 'kernel', 'ticket'],
] as const;

async function start(world: VersionsWorld): Promise<readonly Program[]> {
  world.create('EvictionPolicy', 'evictionpolicies', 'hold', {
    match: { taints: [{ key: 'hold' }] },
    action: 'Keep',
  });
  world.create('EvictionPolicy', 'evictionpolicies', 'limited', {
    match: { namespaces: ['limited'] },
    limits: [{ per: 'Total', pods: podsMax, window: '1h', onLimit: 'Trip' }],
  });
  world.create('EvictionPause', 'evictionpauses', 'paused', { scope: { namespaces: ['paused'] } });
  const replicas = [world.controller('0.1.0'), world.controller('0.1.0')];
  await world.led('0.1.0');
  world.begin();
  await world.left(20);
  return replicas;
}

/** Puts two replicas in the place of two: one leaves in order, the other one crashes. */
async function roll(
  world: VersionsWorld,
  [first, second]: readonly Program[],
  version: Version,
): Promise<readonly Program[]> {
  const next = world.controller(version);
  await next.saw(/caches synced/);
  first?.child.kill('SIGTERM');
  assert.equal(await first?.ended, 0, first?.out());
  const other = world.controller(version);
  await other.saw(/caches synced/);
  second?.child.kill('SIGKILL');
  await world.led(version);
  return [next, other];
}

async function install(world: VersionsWorld, version: Version): Promise<void> {
  const plugin = world.plugin(version, 'install', 'crds', '--force-conflicts');
  assert.equal(await plugin.ended, 0, plugin.out());
}

/** Uses the fields of the next version; a drain is half done when this resolves. */
async function useNewFields(world: VersionsWorld): Promise<void> {
  world.change('evictionpolicies', 'hold', { action: 'Delete', hold: true });
  world.change('evictionpauses', 'paused', { ticket: 'T-1' });
  const nodes = ['a-5', 'a-6'];
  const kernel = { nodes, taint: { key: 'kernel' }, ticket: 'T-1' };
  world.create('NodeDrain', 'nodedrains', 'kernel', kernel);
  const status = () => world.object('nodedrains', 'kernel').status;
  await until('the drain to be blocked', () => status()?.phase === 'Blocked');
  assert.ok(status().podsGone > 0);
}

/** Pods outstay their time, and none is evicted; a controller says why. */
async function holdsAll(world: VersionsWorld, how: RegExp, program?: Program): Promise<void> {
  const before = world.removals;
  await world.overdue(10);
  assert.equal(world.removals, before);
  for (const [kind, name, field] of newFields) {
    const said = new RegExp(`${kind} "${name}" cannot be followed.*spec[.]${field}.*${how.source}`);
    assert.match(program?.out() ?? '', said);
  }
}

/** Lets everything go that is still held. */
async function release(world: VersionsWorld): Promise<void> {
  assert.equal(world.goneOf('held') + world.goneOf('paused'), 0);
  assert.equal(world.goneOf('limited'), podsMax);
  world.change('evictionpolicies', 'hold', { hold: undefined });
  world.api.delete('evictionpauses.taintmgr.dev', '', 'paused');
  world.api.delete('evictionpolicies.taintmgr.dev', '', 'limited');
  world.allowBudget();
  await world.emptied();
}

describe('a change of version under load', () => {
  it('forward, back and forward again: nothing is lost, early or twice', {
    timeout,
  }, async (t) => {
    const world = await VersionsWorld.start(t);
    const old = await start(world);
    await install(world, '0.2.0');
    await world.left(10);
    const next = await roll(world, old, '0.2.0');
    await world.left(10);
    await useNewFields(world);
    const { podsGone } = world.object('nodedrains', 'kernel').status;

    const [back, standby] = await roll(world, next, '0.1.0');
    await holdsAll(world, /or run the newer version/, back);
    const refused = world.plugin('0.1.0', 'install', 'crds');
    assert.equal(await refused.ended, 1);
    assert.match(
      refused.out(),
      /evictionpolicies.* has fields that this version does not: spec.hold/,
    );
    // Definitions of the older version hide the fields from whoever reads them, as after a helm rollback.
    await install(world, '0.1.0');
    const crashed = world.controller('0.1.0');
    await crashed.saw(/caches synced/);
    for (const one of [back, standby]) one?.child.kill('SIGKILL');
    await crashed.saw(/became the leader/);
    await holdsAll(world, /apply the newer CustomResourceDefinitions again/, crashed);

    await install(world, '0.2.0');
    const [last] = await roll(world, [crashed, world.controller('0.1.0')], '0.2.0');
    await world.left(20);
    assert.equal(world.object('evictionpolicies', 'hold').spec.hold, true);
    assert.ok(world.object('nodedrains', 'kernel').status.podsGone >= podsGone);
    await release(world);
    const phase = () => world.object('nodedrains', 'kernel').status?.phase;
    await until('the drain to end', () => phase() === 'Drained', last?.out);
    world.assertHarmless();
  });
});
