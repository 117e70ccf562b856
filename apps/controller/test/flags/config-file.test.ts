import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import schema from '../../config.schema.json' with { type: 'json' };
import { ConfigFileError, fieldAt, readConfigFile } from '../../src/flags/config-file.ts';
import { lifecyclePolicies } from '../../src/flags/lifecycle-policies.ts';
import { configuredPolicies, evictionPolicies } from '../../src/flags/policies.ts';
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
  semantics: precise
  concurrentEvictions: 20
  mode: evict
  minTaintAge: 2s
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
      minTaintAgeMs: 2000,
      leave: { finishedPods: true, returningDaemonSetPods: false, optedOutPods: false },
      limits: [{ per: 'zone', podsPerSecond: 5, percent: 20, onLimit: 'queue' }],
    });
    assert.doesNotThrow(() => createEngine(config));
    const policies = configuredPolicies(read, 'evict').flatMap((object) =>
      object.kind === 'EvictionPolicy' ? [object.value] : [],
    );
    assert.deepEqual(
      policies.map(({ action, match, deleteAfterMs, gracePeriodSeconds }) => ({
        action,
        taints: match.taints,
        deleteAfterMs,
        gracePeriodSeconds,
      })),
      [
        {
          action: 'Delete',
          taints: [{ key: 'node.kubernetes.io/*' }],
          deleteAfterMs: null,
          gracePeriodSeconds: null,
        },
        {
          action: 'EvictThenDelete',
          taints: [{ key: 'spot' }],
          deleteAfterMs: 90_000,
          gracePeriodSeconds: 10,
        },
      ],
    );
    // The first that matches counts.
    assert.ok((policies[0]?.priority ?? 0) > (policies[1]?.priority ?? 0));
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
  podReadiness: atOnce
  massUnreachable: { share: 0.3, nodesMin: 5, within: 20s, hold: 1m }
  healthy: 30s
  flapping: { times: 3, within: 10m, healthy: 5m }
  conditionRules:
    - name: disk
      condition: DiskBroken
      holds: 1m
      taint: { key: disk, effect: NoExecute }
      nodesMax: 10%
    - name: quiet
      condition: Quiet
      status: 'False'
      taint: { key: quiet, value: v, effect: NoSchedule }
      nodes: { matchLabels: { pool: a } }
      nodesMax: 3
      dryRun: true
`),
    );
    const lifecycle = lifecyclePolicies(read);
    const disk = { key: 'disk', value: '', effect: 'NoExecute' };
    const quiet = { key: 'quiet', value: 'v', effect: 'NoSchedule' };
    assert.deepEqual(lifecycle, {
      enforcement: 'taints',
      podEvictionTimeoutMs: 300_000,
      zoneMembers: { matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' }] },
      fullDisruption: 'hold',
      podReadiness: 'atOnce',
      massUnreachable: { share: 0.3, nodesMin: 5, withinMs: 20_000, holdMs: 60_000 },
      healthyMs: 30_000,
      flapping: { times: 3, withinMs: 600_000, healthyMs: 300_000 },
      conditionRules: [
        {
          ...{ name: 'disk', condition: 'DiskBroken', status: 'True', holdsMs: 60_000, clearMs: 0 },
          ...{ taint: disk, nodes: {}, nodesMax: '10%', dryRun: false },
        },
        {
          ...{ name: 'quiet', condition: 'Quiet', status: 'False', holdsMs: 0, clearMs: 0 },
          ...{ taint: quiet, nodes: { matchLabels: { pool: 'a' } }, nodesMax: 3, dryRun: true },
        },
      ],
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
      'a mode there is not',
      `${head}eviction: {policies: [{mode: drop}]}`,
      'eviction.policies[0].mode: got "drop", want delete, evict, evictThenDelete',
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
      `${head}eviction: {policies: [{settle: 2s}]}`,
      'eviction.policies[0]: got the unknown field "settle", want minTaintAge',
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
      'a limit without a number',
      `${head}eviction: {limits: [{per: zone, onLimit: queue}]}`,
      'eviction.limits[0]: the field "podsPerSecond" is missing',
    ],
    [
      'a share beyond all nodes',
      `${head}nodeLifecycle: {massUnreachable: {share: 2, nodesMin: 1, within: 1s, hold: 1s}}`,
      'nodeLifecycle.massUnreachable.share: got 2, which must be <= 1',
    ],
    [
      'a rule without a taint',
      `${head}nodeLifecycle: {conditionRules: [{name: a, condition: b}]}`,
      'nodeLifecycle.conditionRules[0]: the field "taint" is missing',
    ],
    [
      'a part that is none',
      `${head}nodeLifecycle: {conditionRules: [{name: a, condition: b, taint: {key: k, effect: NoExecute}, nodesMax: many}]}`,
      'nodeLifecycle.conditionRules[0].nodesMax: got "many", want a number or, such as 10%, a part',
    ],
    ['nothing', '', 'the file: got null, which must be object'],
    ['a value that contains itself', 'a: &a {b: *a}', 'a value contains itself'],
    ['more than it seems', bomb, 'Excessive alias count indicates a resource exhaustion attack'],
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
  ...['gracePeriodSeconds', 'minTaintAge', 'policies', 'leave', 'limits', 'heedNodeDeadlines'].map(
    (name) => `eviction.${name}`,
  ),
  ...['enforcement', 'podEvictionTimeout', 'zoneMembers', 'fullDisruption', 'podReadiness'].map(
    (name) => `nodeLifecycle.${name}`,
  ),
  ...['massUnreachable', 'healthy', 'flapping', 'conditionRules'].map(
    (name) => `nodeLifecycle.${name}`,
  ),
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
