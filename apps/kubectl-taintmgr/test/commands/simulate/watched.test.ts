import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from '../../world/run.ts';

// A simulation that takes long says how far it is, and Ctrl-C ends it.

const scenarios = fileURLToPath(new URL('../../../../../docs/scenarios/', import.meta.url));
const files = ['-f', `${scenarios}three-zones.yaml`, '--script', `${scenarios}zone-outage.yaml`];

describe('a simulation of a week', () => {
  for (const [when, shown] of [
    ['the cluster comes to rest', /^simulating the cluster comes to rest$/],
    ['it is under way', /^simulating \d.* of 7d$/],
  ] as const) {
    it(`ends at Ctrl-C while ${when}`, async () => {
      const running = start(['simulate', ...files, '--until', '168h'], true);
      await running.output.saw(shown);
      running.interrupt();
      const { code, out, err } = await running.result;
      assert.deepEqual([code, out, err], [130, '', 'error: interrupted\n']);
    });
  }

  it('names the variant that is played', async () => {
    const running = start(['simulate', ...files, '--until', '168h', '--compare'], true);
    await running.output.saw(/^simulating precise: \d.* of 7d$/);
    running.interrupt();
    assert.equal((await running.result).code, 130);
  });

  it('says nothing where nobody watches', async () => {
    const running = start(['simulate', ...files, '--until', '3m']);
    const { code, err } = await running.result;
    assert.deepEqual([code, err, running.output.shown], [0, '', []]);
  });
});
