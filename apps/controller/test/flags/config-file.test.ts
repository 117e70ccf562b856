import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import schema from '../../config.schema.json' with { type: 'json' };
import { ConfigFileError, fieldAt, readConfigFile } from '../../src/flags/config-file.ts';
import { evictionPolicies, lifecyclePolicies } from '../../src/flags/policies.ts';
import { type Setting, settings } from '../../src/flags/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-config-'));
after(() => rmSync(folder, { recursive: true }));

const head = 'apiVersion: taintmgr.dev/v1alpha1\nkind: ControllerConfiguration\n';

function fileWith(text: string): string {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  return file;
}

/** Nine times nine times nine ... values on nine lines. */
const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  .concat(
    Array.from({ length: 8 }, (_, n) => {
      return `a${n + 1}: &a${n + 1} [${Array.from({ length: 9 }, () => `*a${n}`).join(', ')}]`;
    }),
  )
  .join('\n');

describe('a configuration file', () => {
  it('becomes options of the engine', () => {
    const read = readConfigFile(
      fileWith(`${head}
eviction:
  semantics: taintmgr
  concurrentEvictions: 20
  mode: evict
  minTaintAge: 2s
  leave:
    finishedPods: true
`),
    );
    assert.equal(fieldAt(read, 'eviction.concurrentEvictions'), 20);
    assert.equal(fieldAt(read, 'eviction.concurrentEvictions.more'), undefined);
    assert.equal(fieldAt(read, 'serving.securePort'), undefined);
    const config = evictionPolicies(read);
    assert.deepEqual(config, {
      minTaintAgeMs: 2000,
      leave: { finishedPods: true, returningDaemonSetPods: false, optedOutPods: false },
    });
    assert.doesNotThrow(() => createEngine(config));
  });

  it('becomes options of the node lifecycle', () => {
    const read = readConfigFile(
      fileWith(`${head}
nodeLifecycle:
  nodeEvictionRate: 0.5
  enforcement: taints
  podEvictionTimeout: 5m
  zoneMembers:
    matchExpressions: [{ key: spot, operator: DoesNotExist }]
  fullDisruption: hold
  podReadiness: at-once
  massUnreachable: { share: 0.3, nodesMin: 5, within: 20s, hold: 1m }
  healthy: 30s
  flapping: { times: 3, within: 10m, healthy: 5m }
`),
    );
    const lifecycle = lifecyclePolicies(read);
    assert.deepEqual(lifecycle, {
      enforcement: 'taints',
      podEvictionTimeoutMs: 300_000,
      zoneMembers: { matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' }] },
      fullDisruption: 'hold',
      podReadiness: 'at-once',
      massUnreachable: { share: 0.3, nodesMin: 5, withinMs: 20_000, holdMs: 60_000 },
      healthyMs: 30_000,
      flapping: { times: 3, withinMs: 600_000, healthyMs: 300_000 },
    });
    assert.doesNotThrow(() => createEngine({ lifecycle }));
    const never = readConfigFile(fileWith(`${head}nodeLifecycle: {massUnreachable: null}`));
    assert.deepEqual(lifecyclePolicies(never), { massUnreachable: null });
  });

  it('may be JSON, and may leave everything out', () => {
    const json = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'ControllerConfiguration' };
    assert.deepEqual(evictionPolicies(readConfigFile(fileWith(JSON.stringify(json)))), {});
  });

  const faults: readonly [string, string, string][] = [
    [
      'policies, which are objects now',
      `${head}eviction: {policies: [{mode: delete}]}`,
      'eviction: got the unknown field "policies", want an EvictionPolicy in a file of --policy: ',
    ],
    [
      'limits, which policies have now',
      `${head}eviction: {limits: [{per: zone, pods: 1, onLimit: queue}]}`,
      'eviction: got the unknown field "limits", want an EvictionPolicy in a file of --policy: they ',
    ],
    [
      'rules, which are objects now',
      `${head}nodeLifecycle: {conditionRules: []}`,
      'nodeLifecycle: got the unknown field "conditionRules", want a NodeTaintRule in a file of ',
    ],
    [
      'a field there is not',
      `${head}evictoin: {}`,
      'the file: got the unknown field "evictoin", want apiVersion, kind, controllers, ',
    ],
    [
      'a field there is not further in',
      `${head}logging: {level: 3}`,
      'logging: got the unknown field "level", want format, verbosity',
    ],
    [
      'a field by its former name',
      `${head}eviction: {settle: 2s}`,
      'eviction: got the unknown field "settle", want minTaintAge',
    ],
    [
      'a duration that is none',
      `${head}eviction: {minTaintAge: soon}`,
      'eviction.minTaintAge: got "soon", want a duration such as 30s, 10m or 1h30m',
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
      'a share beyond all nodes',
      `${head}nodeLifecycle: {massUnreachable: {share: 2, nodesMin: 1, within: 1s, hold: 1s}}`,
      'nodeLifecycle.massUnreachable.share: got 2, which must be <= 1',
    ],
    ['nothing', '', 'the file: got null, which must be object'],
    [
      'a truth in the place of a text',
      `${head}leaderElection: {resourceName: on}`,
      'leaderElection.resourceName: got true, which must be string (on is a boolean in YAML 1.1; ' +
        "to have a text write 'on' in quotes)",
    ],
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

  for (const [name, text, fault] of [
    ['a value that contains itself', 'a: &a {b: *a}', '1:11: a value contains itself'],
    ['more than it seems', bomb, '6:9: it stands for more than 100000 values'],
    ['no YAML', 'a: [', '1:5: Flow sequence in block collection must be sufficiently indented'],
    ['two documents', `${head}---\n${head}`, '4:1: want one document'],
  ] as const) {
    it(`names the place of what is no configuration: ${name}`, () => {
      const file = fileWith(text);
      assert.throws(
        () => readConfigFile(file),
        (error) => {
          assert.ok(error instanceof ConfigFileError);
          assert.ok(error.message.startsWith(`--config ${file}:${fault}`), error.message);
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
  ...['gracePeriodSeconds', 'minTaintAge', 'leave', 'heedNodeDeadlines'].map(
    (name) => `eviction.${name}`,
  ),
  ...['enforcement', 'podEvictionTimeout', 'zoneMembers', 'fullDisruption', 'podReadiness'].map(
    (name) => `nodeLifecycle.${name}`,
  ),
  ...['massUnreachable', 'healthy', 'flapping'].map((name) => `nodeLifecycle.${name}`),
  'nodePressure.pools',
];

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
