import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask } from '../harness/https-client.ts';
import { begun, pause, published, startController } from './takeover-controller.ts';
import { TakeoverWorld, tokenOf } from './takeover-world.ts';

// Clocks that are apart, beside a controller with --takeover, over HTTPS.

const seconds: readonly number[] = [5, 45, 120];
const open = '--authorization-always-allow-paths=/*';

describe('our clock and that of the control plane are apart', () => {
  for (const ahead of seconds.flatMap((one) => [one, -one])) {
    const side = ahead > 0 ? 'ahead of' : 'behind';
    it(`the API server is ${Math.abs(ahead)} s ${side} us: it refuses all the same`, async (t) => {
      const world = await TakeoverWorld.start(t, {}, ahead * 1000);
      world.pod('in', 'kept');
      pause(world);
      const controller = await startController(t, world, open);
      await begun(world, controller, 'kept');
      world.manager.start();
      world.taint();
      await world.refused('in', 'kept');
      assert.equal(world.isDeleted('in', 'kept'), false);
      // Said in the log, in the status, and on a page.
      const said = new RegExp(`the API server's clock is \\S+ ${side} the time of this process`);
      assert.ok(controller.lines.some(({ msg }) => said.test(String(msg))));
      const skew = published(world).conditions?.find(({ type }) => type === 'ClockSkew');
      assert.match(skew?.message ?? '', new RegExp(`the API server's clock is \\S+ ${side}`));
      const { body } = await ask(controller.port, '/statusz');
      assert.match(body, said);
      await controller.stop();
    });
  }
});

/** kube-controller-manager dates its marks so far ahead of the API server's clock. */
function setTheirClock(world: TakeoverWorld, ahead: number): void {
  world.change((request) => {
    const { method, path, body } = request;
    const isMark = tokenOf(request) === 'manager' && method === 'PATCH' && path.includes('/pods/');
    if (!isMark || body === null) return request;
    const dated = /"lastTransitionTime":"([^"]+)"/;
    const shifted = (_: string, time: string): string => {
      const there = new Date(Date.parse(time) + ahead).toISOString().replace(/[.]\d+/, '');
      return `"lastTransitionTime":"${there}"`;
    };
    return { ...request, body: String(body).replace(dated, shifted) };
  });
}

describe('the clocks of kube-controller-manager and of the API server are apart', () => {
  for (const ahead of [45_000, -45_000]) {
    it(`by ${ahead / 1000} s: it is refused`, async (t) => {
      const world = await TakeoverWorld.start(t);
      setTheirClock(world, ahead);
      world.pod('in', 'kept');
      pause(world);
      const controller = await startController(t, world);
      await begun(world, controller, 'kept');
      world.manager.start();
      world.taint();
      await world.refused('in', 'kept');
      assert.equal(world.isDeleted('in', 'kept'), false);
      await controller.stop();
    });
  }

  for (const ahead of [120_000, -120_000]) {
    it(`by ${ahead / 1000} s: it is let through, and that is told`, async (t) => {
      const world = await TakeoverWorld.start(t);
      setTheirClock(world, ahead);
      world.pod('in', 'gone');
      pause(world);
      const controller = await startController(t, world, open);
      await begun(world, controller, 'gone');
      world.manager.start();
      world.taint();
      await world.deleted('in', 'gone');
      const said =
        'kube-controller-manager was let through with pod in/gone, whose namespace is taken over: ' +
        'the heartbeat was late, the policies were not in force, or its clock is off by more than 1m';
      await controller.saw(said);
      const health = await ask(controller.port, '/healthz?verbose');
      assert.equal(health.status, 500);
      assert.match(health.body, /^\[-\]takeover failed/m);
      await world.until(() => published(world).takeover?.letThrough === 1);
      await controller.stop();
    });
  }
});
