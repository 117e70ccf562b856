import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from '../../world/run.ts';

// A simulation that takes long says how far it is, and Ctrl-C ends it.

const scenarios = fileURLToPath(new URL('../../../../../docs/scenarios/', import.meta.url));
const files = ['-f', `${scenarios}three-zones.yaml`, '--script', `${scenarios}zone-outage.yaml`];

const topology = `apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
- {zone: a, count: 1000}
workloads:
- {kind: Deployment, name: shop/web, replicas: 20000}
`;

describe('a simulation of a week', () => {
  it('ends at Ctrl-C while the cluster comes to rest', async (t) => {
    // One that no machine brings to rest before it is said.
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-watched-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const large = join(directory, 'large.yaml');
    writeFileSync(large, topology);
    const running = start(['simulate', '-f', large, '--until', '1h'], true);
    await running.output.saw(/^simulating the cluster comes to rest$/);
    running.interrupt();
    const { code, out, err } = await running.result;
    assert.deepEqual([code, out, err], [130, '', 'error: interrupted\n']);
  });

  it('ends at Ctrl-C while it is under way', async () => {
    const running = start(['simulate', ...files, '--until', '168h'], true);
    await running.output.saw(/^simulating \d.* of 7d$/);
    running.interrupt();
    const { code, out, err } = await running.result;
    assert.deepEqual([code, out, err], [130, '', 'error: interrupted\n']);
  });

  it('names the variant that is played', async () => {
    const running = start(['simulate', ...files, '--until', '168h', '--compare'], true);
    await running.output.saw(/^simulating taintmgr: \d.* of 7d$/);
    running.interrupt();
    assert.equal((await running.result).code, 130);
  });

  it('says nothing where nobody watches', async () => {
    const running = start(['simulate', ...files, '--until', '3m']);
    const { code, err } = await running.result;
    assert.deepEqual([code, err, running.output.shown], [0, '', []]);
  });
});
