import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import {
  type DrainFlag,
  type DrainFlags,
  drainCommand,
  drainFlags,
  flagText,
} from '../../../src/commands/drain-by-taint/flags.ts';
import { type DrainRequest, readRequest } from '../../../src/commands/drain-by-taint/settings.ts';
import { CapturedOutput } from '../../world/captured-output.ts';

// What a drain by a file takes from it, and what it refuses beside it.

const directory = mkdtempSync(join(tmpdir(), 'kubectl-taintmgr-test-'));
after(() => rmSync(directory, { recursive: true }));

/** What a file with such a spec asks for, with these words and flags on the command line beside it. */
function requestOf(
  spec: object,
  words: readonly string[] = [],
  given: readonly string[] = [],
): Promise<DrainRequest> {
  const filename = join(directory, 'drain.json');
  const taint = { key: 'maintenance', effect: 'NoSchedule' };
  const manifest = { apiVersion: policyApiVersion, kind: 'NodeDrain', metadata: { name: 'd' } };
  writeFileSync(filename, JSON.stringify({ ...manifest, spec: { nodes: ['n1'], taint, ...spec } }));
  const command = drainCommand().exitOverride();
  command.parse(['-f', filename, ...words], { from: 'user' });
  const flags = command.opts() as DrainFlags & Parameters<typeof readRequest>[0]['flags'];
  const invocation = { flags, given: new Set(given), output: new CapturedOutput() };
  return readRequest(invocation, undefined, []);
}

describe('a drain by a file', () => {
  const policies = [
    [{}, { kind: 'respect' }],
    [{ policy: 'Ignore' }, { kind: 'ignore' }],
    [
      { policy: 'DeleteAfter', deleteAfter: '1h' },
      { kind: 'deleteAfter', afterMs: 3_600_000 },
    ],
  ] as const;
  for (const [budgets, expected] of policies) {
    it(`asks budgets as it says: ${expected.kind}`, async () => {
      assert.deepEqual((await requestOf({ budgets })).budgets, expected);
    });
  }

  const selected = { nodes: undefined, nodeSelector: { matchLabels: { a: 'b' } } };
  const onServerOnly: readonly (readonly [text: string, spec: object])[] = [
    ['spec.laterNodes: Drain', { ...selected, laterNodes: 'Drain' }],
    ['spec.paused: true', { paused: true }],
    ['spec.nodeConditions: Publish', { nodeConditions: 'Publish' }],
    ['spec.maintenancePlanned: Require', { ...selected, maintenancePlanned: 'Require' }],
    ['spec.pods.evictBy: EvictionRequest', { pods: { evictBy: 'EvictionRequest' } }],
    ['spec.whileClosed: RollBack', { whileClosed: 'RollBack' }],
  ];
  for (const [text, spec] of onServerOnly) {
    it(`refuses what only a controller carries out: ${text}`, async () => {
      await assert.rejects(requestOf(spec), {
        message: `--filename: ${text} is only there with --server-side`,
      });
      await assert.doesNotReject(requestOf(spec, ['--server-side']));
    });
  }

  it('takes no flag beside it that sets a field, and no --pod-selector', async () => {
    const names = Object.keys(drainFlags) as DrainFlag[];
    const setting = names.filter((name) => drainFlags[name].field !== null);
    for (const flag of [...setting, 'podSelector'] as const) {
      const { message } = await requestOf({}, [], [flag]).then(
        () => assert.fail(`${flag} is taken`),
        (error: Error) => error,
      );
      assert.ok(
        message.startsWith(`--filename and ${flagText(flag)} exclude each other: `),
        message,
      );
    }
  });
});
