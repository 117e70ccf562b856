import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import {
  assertEvicted,
  assertSpared,
  assertSparedAnew,
  beatOf,
  holding,
  letThroughText,
  policies,
  published,
  resume,
  startController,
  taintManagers,
  upset,
} from './takeover-controller.ts';

// What may go wrong beside a controller with --takeover, over HTTPS: a line each in docs/takeover.md.

/** How often it looks for others. */
const lookEveryMs = 30_000;

/** The lease of another installation, which lives. */
function otherLease(now: number): KubeObject {
  const renewTime = new Date(now).toISOString().replace('Z', '000Z');
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'taintmgr-system', name: 'taintmgr-controller' },
    spec: { holderIdentity: 'other_1', leaseDurationSeconds: 3600, renewTime },
  };
}

describe('accidents', () => {
  it('somebody edits a policy: it is told, and mended', async (t) => {
    const { world, controller } = await holding(t, 'kept');
    const found = world.api.get(policies, '', 'taintmgr-takeover') ?? assert.fail();
    const edited = structuredClone(found);
    edited.spec.matchConditions.push({ name: 'off', expression: 'false' });
    world.api.update(policies, edited);
    await controller.saw('an object of takeover was changed, repairing it');
    await controller.saw('mended it', { object: 'validatingadmissionpolicy/taintmgr-takeover' });
    await controller.saw('recorded event', { reason: 'TakeoverPolicyChanged' });
    await world.untilPolicies(true, 'kept');
    await controller.stop();
  });

  it('the policies are removed: they are installed again, and what went meanwhile is told', async (t) => {
    const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute' };
    const tolerations = [{ ...toleration, tolerationSeconds: 3600 }];
    const { world, controller } = await holding(t, 'first', {
      before: (one) => one.pod('in', 'second', { tolerations }),
    });
    world.removePolicies();
    await world.untilPolicies(false, 'first');
    upset(world);
    await world.deleted('in', 'first');
    await controller.saw('installed an object of takeover', {}, 8);
    await world.untilPolicies(true, 'second');
    await controller.saw(letThroughText('first'));
    await world.until(() => published(world).takeover?.letThrough === 1);
    await controller.stop();
  });

  it('10: the leader changes while pods are held: nothing is deleted in between', async (t) => {
    const { world, controller: first } = await holding(t, 'kept');
    const second = await startController(t, world);
    await second.saw('caches synced, evictions start');
    upset(world);
    await assertSpared(world, 'kept');
    await first.stop();
    await second.saw('became the leader');
    await second.saw('publishing status');
    await assertSparedAnew(world, 'kept');
    resume(world);
    await world.deleted('in', 'kept');
    assert.equal(first.lines.filter(({ msg }) => msg === 'evicting').length, 0);
    await second.stop();
  });

  it('another taintmgr-controller runs: takeover pauses, and goes on when that is gone', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { world, controller } = await holding(t, 'kept');
    upset(world);
    await assertSpared(world, 'kept');
    world.api.create('namespaces', { metadata: { name: 'taintmgr-system' } });
    world.api.create('leases', otherLease(world.clock.now()));
    t.mock.timers.tick(lookEveryMs);
    await world.until(() => published(world).takeover?.enabled === false);
    assert.ok(world.clock.now() - beatOf(world) < 5_000);
    const standsBack = published(world).conditions?.find(({ type }) => type === 'StandingBack');
    assert.match(
      standsBack?.message ?? '',
      /^another taintmgr-controller \(other_1, lease taintmgr-system\//,
    );
    await controller.saw(`standing by: ${standsBack?.message}`);
    await world.untilPolicies(false, 'kept');
    world.pod('in', 'gone');
    await world.deleted('in', 'gone');
    assert.equal(world.isDeleted('in', 'kept'), false);
    world.api.delete('leases', 'taintmgr-system', 'taintmgr-controller');
    t.mock.timers.tick(lookEveryMs);
    await world.until(() => published(world).takeover?.enabled === true);
    await world.untilPolicies(true, 'kept');
    await assertSparedAnew(world, 'kept');
    resume(world);
    await world.deleted('in', 'kept');
    await controller.stop();
    assertEvicted(world, 'kept');
    assert.equal(published(world).takeover?.letThrough, 0);
  });

  it('the TaintManager is deleted: it is there again with the next heartbeat', async (t) => {
    const { world, controller } = await holding(t, 'kept');
    world.api.delete(taintManagers, '', 'taintmgr');
    await world.until(() => published(world).takeover?.enabled === true);
    upset(world);
    await assertSpared(world, 'kept');
    await controller.stop();
  });

  it('the API server answers nobody until the lead is lost: it begins anew', async (t) => {
    const { world, controller } = await holding(t, 'kept');
    world.refuse(() => true);
    await controller.saw('no longer the leader, standing by');
    world.refuse(() => false);
    await controller.saw('the policies of takeover are in force', {}, 2);
    await controller.saw('publishing status', {}, 2);
    upset(world);
    await assertSpared(world, 'kept');
    assert.ok(
      controller.lines.every(({ msg }) => msg !== 'the policies of takeover are not in force'),
    );
    await controller.stop();
  });
});
