import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask } from '../../harness/https-client.ts';
import {
  assertSpared,
  dateMarks,
  holding,
  openPages,
  published,
  upset,
} from './takeover-controller.ts';

// Clocks that are apart, beside a controller with --takeover, over HTTPS.

describe('our clock and that of the control plane are apart', () => {
  for (const seconds of [5, -5, 45, -45, 120, -120]) {
    const side = seconds > 0 ? 'ahead of' : 'behind';
    it(`the API server is ${Math.abs(seconds)} s ${side} us: it refuses all the same`, async (t) => {
      const options = { ahead: seconds * 1000, flags: [openPages] };
      const { world, controller } = await holding(t, 'kept', options);
      upset(world);
      await assertSpared(world, 'kept');
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

describe('the clocks of kube-controller-manager and of the API server are apart', () => {
  for (const ahead of [45_000, -45_000, 120_000, -120_000]) {
    it(`by ${ahead / 1000} s: it is refused`, async (t) => {
      const { world, controller } = await holding(t, 'kept', {
        before: (one) => dateMarks(one, (ours) => ours + ahead),
      });
      upset(world);
      await assertSpared(world, 'kept');
      await controller.stop();
    });
  }
});
