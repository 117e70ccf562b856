import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import schema from '../../config.schema.json' with { type: 'json' };
import { ConfigFileError, fieldAt, readConfigFile } from '../../src/flags/config-file.ts';
import { evictionPolicies } from '../../src/flags/policies.ts';
import type { Setting } from '../../src/flags/setting.ts';
import { settings } from '../../src/flags/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-config-'));
after(() => rmSync(folder, { recursive: true }));

const head = 'apiVersion: taintmgr.dev/v1alpha1\nkind: ControllerConfiguration\n';

function fileWith(text: string): string {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  return file;
}

describe('a configuration file', () => {
  it('becomes options of the engine', () => {
    const read = readConfigFile(
      fileWith(`${head}
eviction:
  semantics: precise
  concurrentEvictions: 20
  mode: evict
  settle: 2s
  policies:
    - key: node.kubernetes.io/*
      mode: delete
    - key: spot
      mode: evictThenDelete
      deleteAfter: 1m30s
      gracePeriodSeconds: 10
  leave:
    finishedPods: true
  limits:
    - per: zone
      podsPerSecond: 5
      percent: 20
      onLimit: queue
`),
    );
    assert.equal(fieldAt(read, 'eviction.concurrentEvictions'), 20);
    assert.equal(fieldAt(read, 'eviction.concurrentEvictions.more'), undefined);
    assert.equal(fieldAt(read, 'serving.securePort'), undefined);
    const config = evictionPolicies(read);
    assert.deepEqual(config, {
      settleMs: 2000,
      policies: [
        { key: 'node.kubernetes.io/*', mode: 'delete' },
        { key: 'spot', mode: 'evictThenDelete', deleteAfterMs: 90_000, gracePeriodSeconds: 10 },
      ],
      leave: { finishedPods: true, returningDaemonSetPods: false, optedOutPods: false },
      limits: [{ per: 'zone', podsPerSecond: 5, percent: 20, onLimit: 'queue' }],
    });
    assert.doesNotThrow(() => createEngine(config));
  });

  it('may be JSON, and may leave everything out', () => {
    const json = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'ControllerConfiguration' };
    assert.deepEqual(evictionPolicies(readConfigFile(fileWith(JSON.stringify(json)))), {});
  });

  const faults: readonly [string, string, string][] = [
    [
      'a mode there is not',
      `${head}eviction: {policies: [{mode: drop}]}`,
      'eviction.policies[0].mode: got "drop", want delete, evict, evictThenDelete',
    ],
    ['a field there is not', `${head}evictoin: {}`, 'the file: unknown field "evictoin"'],
    [
      'a duration that is none',
      `${head}eviction: {settle: soon}`,
      'eviction.settle: got "soon", want a duration such as 30s, 10m or 1h30m',
    ],
    ['no kind', 'apiVersion: taintmgr.dev/v1alpha1', 'the file: the field "kind" is missing'],
    [
      'another version',
      'apiVersion: v2\nkind: ControllerConfiguration',
      'apiVersion: got "v2", want taintmgr.dev/v1alpha1',
    ],
    [
      'a grace period of none',
      `${head}eviction: {gracePeriodSeconds: 0}`,
      'eviction.gracePeriodSeconds: got 0, which must be >= 1',
    ],
    [
      'a limit without a number',
      `${head}eviction: {limits: [{per: zone, onLimit: queue}]}`,
      'eviction.limits[0]: the field "podsPerSecond" is missing',
    ],
    ['nothing', '', 'the file: got null, which must be object'],
    ['no YAML', 'a: [', 'Flow sequence in block collection must be sufficiently indented'],
  ];
  for (const [name, text, fault] of faults) {
    it(`names what is wrong: ${name}`, () => {
      const file = fileWith(text);
      assert.throws(
        () => readConfigFile(file),
        (error) => {
          assert.ok(error instanceof ConfigFileError);
          assert.ok(error.message.startsWith(`--config ${file}: ${fault}`), error.message);
          assert.ok(!error.message.includes('\n'));
          return true;
        },
      );
    });
  }

  it('has a field for each setting, and a setting or a policy for each field', () => {
    const all: readonly Setting<unknown>[] = Object.values(settings);
    const fields = all.map(({ field }) => field).filter((field) => field !== null);
    const known = ['apiVersion', 'kind', ...fields, ...policyFields];
    assert.deepEqual(leaves(schema).sort(), known.sort());
  });

  it('that is not there is named', () => {
    assert.throws(() => readConfigFile('/nowhere/config.yaml'), {
      message: '--config /nowhere/config.yaml: no such file',
    });
  });
});

/** What the file alone can say. */
const policyFields = [
  'deleteAfter',
  'gracePeriodSeconds',
  'settle',
  'policies',
  'leave',
  'limits',
].map((name) => `eviction.${name}`);

/** The paths of all fields that are no groups of settings. */
function leaves(one: object, path = ''): string[] {
  const { properties }: { properties?: object } =
    path === 'eviction' ? schema.definitions.eviction : one;
  const isLeaf = !properties || path === 'featureGates' || policyFields.includes(path);
  if (isLeaf) return [path];
  return Object.entries<object>({ ...properties }).flatMap(([name, inner]) => {
    return leaves(inner, path === '' ? name : `${path}.${name}`);
  });
}
