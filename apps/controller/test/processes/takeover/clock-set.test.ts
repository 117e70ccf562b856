import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startReplica } from '../../harness/replica.ts';
import {
  assertEvicted,
  assertSpared,
  assertSparedAnew,
  beatOf,
  dateMarks,
  holding,
  published,
  takeoverFlags,
  upset,
} from './takeover-controller.ts';
import { TakeoverWorld } from './takeover-world.ts';

// A clock is set while a controller with --takeover runs, over HTTPS.

const minute = 60_000;
const setClock = new URL('../../harness/set-clock.ts', import.meta.url).href;

/** How far the last heartbeat is from the clock of the API server. */
function ageOf(world: TakeoverWorld): number {
  return world.clock.now() - beatOf(world);
}

describe('the clock of our machine is set while the controller runs', { concurrency: true }, () => {
  for (const by of [10 * minute, -10 * minute]) {
    it(`by ${by / minute} min: nobody goes early, and takeover goes on`, async (t) => {
      const world = await TakeoverWorld.start(t);
      const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute' };
      world.pod('in', 'later', { tolerations: [{ ...toleration, tolerationSeconds: 300 }] });
      const run = ['-C', '@taintmgr/source', '--import', `${setClock}?by=${by}`];
      const flags = [...takeoverFlags, '-v=4'];
      const runner = { binary: process.execPath, run };
      const replica = startReplica(t, world.kubeconfig('controller'), flags, runner);
      await replica.saw('publishing status');
      await world.untilPolicies(true, 'later');
      upset(world);
      replica.strike('SIGUSR2');
      const what = by > 0 ? 'went ' : 'was set back by ';
      await replica.saw(`the clock of this machine ${what}`);
      // The next heartbeat is dated by the API server's clock as ever.
      const before = published(world).renewTime;
      await world.until(() => published(world).renewTime !== before);
      assert.ok(Math.abs(ageOf(world)) < minute / 2, published(world).renewTime);
      await world.untilPolicies(true, 'later');
      // Who is due goes by our hand, and nobody else does.
      world.pod('in', 'due');
      await world.deleted('in', 'due');
      assertEvicted(world, 'due');
      assert.equal(world.isDeleted('in', 'later'), false);
      await replica.stop();
    });
  }
});

describe('the clock of the control plane is set while the controller runs', {
  concurrency: true,
}, () => {
  // Where it went ahead evictions go by it after half a minute only; heartbeats are dated by it at once.
  for (const by of [-10 * minute, 10 * minute]) {
    it(`by ${by / minute} min: refused again before evictions go by it`, async (t) => {
      // kube-controller-manager goes by the clock of the control plane.
      const { world, controller } = await holding(t, 'kept', {
        before: (one) => dateMarks(one, () => one.clock.now()),
      });
      upset(world);
      await assertSpared(world, 'kept');
      world.clock.ahead = by;
      await world.untilPolicies(true, 'kept');
      const moved = "the API server's clock is 10m ahead of the time of this process";
      assert.ok(!controller.lines.some(({ msg }) => String(msg).startsWith(moved)), 'too late');
      assert.ok(Math.abs(ageOf(world)) < minute);
      await assertSparedAnew(world, 'kept');
      await controller.stop();
    });
  }
});
