import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import {
  execute,
  installPlugin,
  withoutKubectl,
} from '../../apps/kubectl-taintmgr/test/world/plugin.ts';
import {
  startTestCluster,
  type TestCluster,
} from '../../apps/kubectl-taintmgr/test/world/test-cluster.ts';

// The file for k9s: its fields, and each command played as k9s would run it, which nobody has here.

const root = fileURLToPath(new URL('../..', import.meta.url));
const { plugins } = parse(readFileSync(join(root, 'docs/integrations/k9s/plugins.yaml'), 'utf8'));

/** The fields of a plugin, as internal/config/json/schemas/plugins.json of derailed/k9s has them (2026). */
const text = { type: 'string' };
const flag = { type: 'boolean' };
const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    shortCut: text,
    override: flag,
    description: text,
    confirm: flag,
    dangerous: flag,
    scopes: { type: 'array', items: text },
    command: text,
    background: flag,
    overwriteOutput: flag,
    args: { type: 'array', items: { type: ['string', 'number'] } },
  },
  required: ['shortCut', 'description', 'scopes', 'command'],
};

interface Plugin {
  readonly shortCut: string;
  readonly scopes: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  readonly confirm?: boolean;
}
const all = Object.entries<Plugin>(plugins);

describe('the plugins for k9s', () => {
  let cluster: TestCluster;
  let folder: string;
  let path: string;
  before(async () => {
    cluster = await startTestCluster({
      region: 'r',
      zones: ['a'],
      nodesPerZone: 2,
      workloads: [],
      budgets: [],
    });
    // A pager that leaves what it gets as it is, and the plugin of this clone.
    folder = mkdtempSync(join(tmpdir(), 'taintmgr-k9s-'));
    path = installPlugin(folder);
    const pager = join(folder, 'bin/less');
    writeFileSync(pager, '#!/bin/sh\ncat\n');
    chmodSync(pager, 0o755);
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await cluster.stop();
  });

  const validate = new Ajv({ allowUnionTypes: true }).compile(schema);
  for (const [name, plugin] of all) {
    it(`${name} has the fields that k9s reads`, () => {
      assert.ok(validate(plugin), JSON.stringify(validate.errors));
    });
  }

  it('have a key for themselves in each view', () => {
    const keys = all.flatMap(([, { shortCut, scopes }]) =>
      scopes.map((one) => `${one} ${shortCut}`),
    );
    assert.equal(new Set(keys).size, keys.length);
  });

  it('ask before they change something', () => {
    for (const [name, { args, confirm = false }] of all) {
      const changes =
        / drain-by-taint /.test(args.join(' ')) && !args.join(' ').includes('--dry-run');
      assert.equal(confirm, changes, name);
    }
  });

  const shown: Readonly<Record<string, RegExp>> = {
    'taintmgr-explain-node': /Name: +a-1\n/,
    'taintmgr-explain-pod': /pods "no-pod" not found/,
    'taintmgr-plan': /node\/a-1 tainted \(dry run\)/,
    'taintmgr-drain': /node\/a-1 drained/,
    'taintmgr-status': /a-1|NODES|nodes/,
  };
  for (const [name, { command, args, scopes }] of all) {
    it(`${name} runs`, { skip: withoutKubectl }, async () => {
      const isPod = !scopes.includes('nodes');
      const values = {
        $NAME: isPod ? 'no-pod' : 'a-1',
        $NAMESPACE: 'default',
        $CONTEXT: await contextOf(cluster.kubeconfig),
      };
      const given = args.map((arg) => values[arg as keyof typeof values] ?? arg);
      const env = { ...process.env, PATH: path, KUBECONFIG: cluster.kubeconfig };
      const { out, err } = await execute(command, given, env);
      const printed = out + err;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
      assert.match(printed.replace(/\x1b\[[\d;]*m/g, ''), shown[name] ?? assert.fail(name));
    });
  }
});

async function contextOf(kubeconfig: string): Promise<string> {
  const { out } = await execute('kubectl', [
    'config',
    'current-context',
    '--kubeconfig',
    kubeconfig,
  ]);
  return out.trim();
}
