import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  begun,
  pause,
  policies,
  published,
  startController,
  taintManagers,
} from './takeover-controller.ts';
import { TakeoverWorld } from './takeover-world.ts';

// What may go wrong beside a controller with --takeover, over HTTPS: a line each in docs/takeover.md.

describe('accidents', () => {
  it('somebody edits a policy: it is told, and mended', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    pause(world);
    const controller = await startController(t, world);
    await begun(world, controller, 'kept');
    const edited =
      structuredClone(world.api.get(policies, '', 'taintmgr-takeover')) ?? assert.fail();
    edited.spec.matchConditions.push({ name: 'off', expression: 'false' });
    world.api.update(policies, edited);
    await controller.saw('somebody changed an object of takeover, mending it');
    await controller.saw('mended it', { object: 'validatingadmissionpolicy/taintmgr-takeover' });
    await controller.saw('recorded event', { reason: 'TakeoverPolicyChanged' });
    await world.untilPolicies(true, 'kept');
    await controller.stop();
  });

  it('the policies are removed: they are installed again, and what went meanwhile is told', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'first');
    world.pod('in', 'second', {
      tolerations: [
        { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3600 },
      ],
    });
    pause(world);
    const controller = await startController(t, world);
    await begun(world, controller, 'first');
    world.removePolicies();
    await world.untilPolicies(false, 'first');
    world.manager.start();
    world.taint();
    await world.deleted('in', 'first');
    await controller.saw('installed an object of takeover', {}, 8);
    await world.untilPolicies(true, 'second');
    assert.ok(
      controller.lines.some(({ msg }) => String(msg).includes('was let through with pod in/first')),
    );
    await world.until(() => published(world).takeover?.letThrough === 1);
    await controller.stop();
  });

  it('10: the leader changes while pods are held: nothing is deleted in between', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    pause(world);
    const first = await startController(t, world);
    await begun(world, first, 'kept');
    const second = await startController(t, world);
    await second.saw('caches synced, evictions start');
    world.manager.start();
    world.taint();
    await world.refused('in', 'kept');
    await first.stop();
    await second.saw('became the leader');
    await second.saw('publishing status');
    await world.manager.stop();
    world.manager.start();
    await world.refused('in', 'kept', 10);
    assert.equal(world.isDeleted('in', 'kept'), false);
    world.api.delete('evictionpauses.taintmgr.dev', '', 'audit');
    await world.deleted('in', 'kept');
    assert.equal(first.lines.filter(({ msg }) => msg === 'evicting').length, 0);
    await second.stop();
  });

  it('the TaintManager is deleted: it is there again with the next heartbeat', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    pause(world);
    const controller = await startController(t, world);
    await begun(world, controller, 'kept');
    world.api.delete(taintManagers, '', 'taintmgr');
    await world.until(() => published(world).takeover?.enabled === true);
    world.manager.start();
    world.taint();
    await world.refused('in', 'kept');
    assert.equal(world.isDeleted('in', 'kept'), false);
    await controller.stop();
  });

  it('the API server answers nobody until the lead is lost: it begins anew', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    pause(world);
    const controller = await startController(t, world);
    await begun(world, controller, 'kept');
    world.refuse(() => true);
    await controller.saw('no longer the leader, standing by');
    world.refuse(() => false);
    await controller.saw('the policies of takeover are in force', {}, 2);
    await controller.saw('publishing status', {}, 2);
    world.manager.start();
    world.taint();
    await world.refused('in', 'kept');
    assert.equal(world.isDeleted('in', 'kept'), false);
    assert.ok(
      controller.lines.every(({ msg }) => msg !== 'the policies of takeover are not in force'),
    );
    await controller.stop();
  });
});
