import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../../world/run.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

// What our controller goes through in scripts: restarts, pauses, clocks, a slow API server.

const { write: file } = temporaryFiles();

interface RunDocument {
  readonly evictions: readonly { readonly at: number; readonly node: string }[];
  readonly holds: readonly {
    readonly kind: string;
    readonly name: string;
    readonly tripped: boolean;
    readonly from: number;
    readonly until: number | null;
    readonly text: string;
  }[];
  readonly events: readonly { readonly at: number; readonly text: string }[];
  readonly nodes: readonly { readonly states: readonly { readonly ready: string }[] }[];
}

async function played(script: string, ...more: readonly string[]): Promise<RunDocument> {
  const files = ['-f', file('topology.yaml', topology), '--script', file('events.yaml', script)];
  const { code, out, err } = await run('simulate', ...files, '-o', 'json', ...more);
  assert.equal(code, 0, err);
  return JSON.parse(out).runs[0];
}

const taintZoneA = `- {at: 2m, taint: {zone: zone-a, taint: 'x:NoExecute'}}`;

/** When pods were evicted, in whole seconds. */
function times({ evictions }: RunDocument): readonly number[] {
  return evictions.map(({ at }) => Math.floor(at));
}

describe('the controller of a simulation', () => {
  const limits = (onLimit: string): string => `policies:
- apiVersion: taintmgr.dev/v1alpha1
  kind: EvictionPolicy
  metadata: {name: one}
  spec: {limits: [{per: Zone, pods: 1, window: 20m, onLimit: ${onLimit}}]}
`;

  it('has a limit that stays tripped over a restart, until it is resumed', async () => {
    const found = await played(`${limits('Trip')}events:
${taintZoneA}
- {at: 4m, restartController: {}}
- {at: 10m, resume: {limits: all}}
`);
    const [first, ...others] = times(found);
    assert.equal(first, 120);
    assert.ok(others.length > 0 && others.every((at) => at >= 600), `${others}`);
    const [hold] = found.holds;
    assert.deepEqual(
      [hold?.kind, hold?.name, hold?.tripped, Math.floor(hold?.from ?? 0)],
      ['limit', 'zone=zone-a policy=one', true, 120],
    );
    assert.deepEqual(found.events.map(({ at, text }) => [at, text]).slice(1), [
      [240, 'the controller is restarted'],
      [245, 'the controller is back'],
      [600, 'resume all limits'],
    ]);
  });

  it('evicts nobody while it is away, and what is due after that', async () => {
    const found = await played(`events:
- {at: 1m55s, restartController: {}, lasts: 1m}
${taintZoneA}
`);
    assert.ok(times(found).length > 0);
    assert.ok(
      times(found).every((at) => at >= 175 && at <= 180),
      `${times(found)}`,
    );
  });

  it('loses no node for its leases when it begins anew', async () => {
    const { nodes, evictions } = await played(
      'events:\n- {at: 10m, restartController: {}}\n- {at: 12m, failover: {}}\n',
    );
    assert.deepEqual(evictions, []);
    assert.ok(nodes.every(({ states }) => states.every(({ ready }) => ready === 'True')));
  });

  it('heeds pauses that a script begins and ends, over a restart too', async () => {
    const found = await played(`events:
- {at: 1m, pause: {name: work, scope: {zones: [zone-a]}}, lasts: 9m}
${taintZoneA}
- {at: 3m, taint: {node: zone-b-1, taint: 'x:NoExecute'}}
- {at: 4m, restartController: {}}
`);
    const ofZone = (zone: string): readonly number[] =>
      times({ ...found, evictions: found.evictions.filter(({ node }) => node.startsWith(zone)) });
    assert.ok(ofZone('zone-a').length > 0 && ofZone('zone-a').every((at) => at >= 600));
    assert.ok(ofZone('zone-b').every((at) => at === 180));
    const held = found.holds.filter(({ kind }) => kind === 'pause');
    assert.ok(held.length > 0 && held.every(({ name }) => name === 'work'));
    assert.ok(held.every(({ from, until }) => from <= 245 && (until ?? 0) >= 240));
  });

  it('goes on when a pause is ended by an event of its own', async () => {
    const found = await played(
      `events:\n- {at: 1m, pause: {}}\n${taintZoneA}\n- {at: 6m, resume: {pause: pause}}\n`,
    );
    assert.ok(times(found).length > 0 && times(found).every((at) => at >= 360));
  });

  it('evicts late when the API server is slow, and in each run alike', async () => {
    const script = `events:\n- {at: 1m50s, slowApi: {delay: 3s}, lasts: 1m}\n${taintZoneA}\n`;
    const found = await played(script, '--variant', 'A=unchanged', '--variant', 'B=unchanged');
    assert.ok(times(found).length > 0 && times(found).every((at) => at >= 123 && at < 135));
    assert.deepEqual(times(await played(script)), times(found));
  });

  it('evicts nobody early when somebody sets its clock, or that of nodes', async () => {
    const patient = file(
      'patient.yaml',
      `apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: patient}
spec: {action: Delete, defaultTolerationSeconds: 120}
`,
    );
    for (const clock of ['by: 10m', 'by: -10m', 'nodes: all, by: 5m']) {
      const found = await played(
        `events:\n${taintZoneA}\n- {at: 2m30s, stepClock: {${clock}}, lasts: 5m}\n`,
        ...['--policy', patient],
      );
      assert.ok(times(found).length > 0, clock);
      assert.ok(
        times(found).every((at) => at >= 240 && at <= 300),
        `${clock}: ${times(found)}`,
      );
    }
  });
});
