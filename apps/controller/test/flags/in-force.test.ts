import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readSettings } from '@taintmgr/k8s-adapter';
import { checkChoices } from '../../src/flags/checks.ts';
import { settingsInForce } from '../../src/flags/in-force.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { engineConfig } from '../../src/process/engine-config.ts';

// What is published of settings, and what whoever reads it makes of it.

/** What the engine of this process has, and what a reader of its status gives to one of its own. */
function bothConfigs(argv: readonly string[]): readonly [own: object, read: object] {
  const choices = resolveChoices(argv, {});
  const { lifecycle: watches, ...own } = engineConfig(choices, checkChoices(choices));
  // Whoever reads it takes no taints off.
  const { retiredRules: _retired, ...lifecycle } = watches ?? {};
  // Who reads it finds the pod of the leader by its lease.
  const {
    taintEviction: _,
    keepLimits: __,
    evictionsInFlightMax: ___,
    ownPod: _o,
    ...decides
  } = own;
  const published = settingsInForce(choices, true);
  const read = readSettings(published);
  assert.deepEqual(read.unusable, []);
  return [
    { ...decides, lifecycle: watches && lifecycle },
    { ...read.engine, lifecycle: read.lifecycle },
  ];
}

function configFile(t: TestContext, content: object): string {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'config.json');
  const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'ControllerConfiguration' };
  writeFileSync(file, JSON.stringify({ ...head, ...content }));
  return file;
}

const files: readonly (readonly [name: string, content: object, flags: readonly string[]])[] = [
  ['nothing', {}, []],
  [
    'evictions',
    {
      eviction: {
        mode: 'evict-then-delete',
        deleteAfter: '36h1m1s',
        minTaintAge: '1m30s',
        gracePeriodSeconds: 20,
        heedNodeDeadlines: true,
        leave: { optedOutPods: true },
      },
      featureGates: { TaintTolerationComparisonOperators: true },
    },
    [],
  ],
  [
    'nodes',
    {
      nodeLifecycle: {
        nodeMonitorGracePeriod: '40s',
        nodeEvictionRate: 0.5,
        unhealthyZoneThreshold: 0.7,
        zoneMembers: { matchExpressions: [{ key: 'pool', operator: 'In', values: ['a', 'b'] }] },
        fullDisruption: 'hold',
        podReadiness: 'at-once',
        massUnreachable: { share: 0.4, nodesMin: 5, within: '30s', hold: '2m' },
        healthy: '15s',
        flapping: { times: 3, within: '10m', healthy: '1m' },
      },
    },
    [],
  ],
  ['devices', {}, ['--controllers=*,device-taint-eviction-controller']],
  ['no guard', { nodeLifecycle: { massUnreachable: null } }, []],
  [
    'the legacy mode',
    { nodeLifecycle: { enforcement: 'pods', podEvictionTimeout: '500ms' } },
    ['--semantics=kube-controller-manager'],
  ],
];

describe('published settings', () => {
  for (const [name, content, flags] of files) {
    it(`are read as they are in force: ${name}`, (t) => {
      const [own, read] = bothConfigs([`--config=${configFile(t, content)}`, ...flags]);
      assert.deepEqual(plain(read), plain(own));
    });
  }

  it('say whether policies of the cluster count', () => {
    const follows = (...argv: readonly string[]): boolean =>
      readSettings(settingsInForce(resolveChoices(argv, {}), false)).followsCluster;
    assert.equal(follows(), true);
    assert.equal(follows('--cluster-policies=false'), false);
    assert.equal(follows('--semantics=kube-controller-manager'), false);
  });
});

/** A selector without expressions is the same selector; who explains evictions drains nothing. */
function plain(config: object): unknown {
  return JSON.parse(
    JSON.stringify(config, (key, value: unknown) => {
      const isEmpty = value instanceof Object && Object.keys(value).length === 0;
      const isLabels = key === 'matchLabels' || key === 'matchExpressions';
      return (isLabels && isEmpty) || key === 'nodeDrains' ? undefined : value;
    }),
  );
}
