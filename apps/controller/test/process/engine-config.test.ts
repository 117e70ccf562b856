// Which machines a run has, by its settings.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Config } from '@taintmgr/core';
import { checkChoices } from '../../src/flags/checks.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { engineConfig } from '../../src/process/engine-config.ts';

describe('NodeDrains', () => {
  for (const [flags, areCarriedOut] of [
    [[], true],
    [['--controllers=taint-eviction-controller'], false],
    [['--cluster-policies=false'], false],
    // Nothing that a drain has set would be seen: it would begin for ever, and its evictions be none for taints.
    [['--dry-run=client'], false],
    [['--dry-run=server'], false],
  ] as const) {
    it(`${areCarriedOut ? 'are' : 'are not'} carried out with ${flags.join(' ') || 'no flags'}`, () => {
      const choices = resolveChoices(flags, {});
      assert.equal(engineConfig(choices, checkChoices(choices)).nodeDrains, areCarriedOut);
    });
  }
});

// Which setting of the user is which of the engine: values that differ from one another and from all defaults.

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-engine-'));
after(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, content: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ apiVersion: 'taintmgr.dev/v1alpha1', ...content }));
  return file;
}

function engineFor(...flags: readonly string[]): Partial<Config> {
  const choices = resolveChoices(flags, {});
  return engineConfig(choices, checkChoices(choices));
}

/** What of the engine's configuration is as expected, and nothing else of it. */
function partOf<T extends object>(config: T | null | undefined, expected: object): object {
  return Object.fromEntries(
    Object.keys(expected).map((name) => [name, Reflect.get(config ?? {}, name)]),
  );
}

const noLifecycle = '--controllers=*,-node-lifecycle-controller';

describe('the configuration of the engine', () => {
  const cases: readonly (readonly [name: string, flags: readonly string[], expected: object])[] = [
    [
      'how pods leave',
      [
        ...['--mode=evict-then-delete', '--delete-after=8m', '--concurrent-evictions=9'],
        '--feature-gates=TaintTolerationComparisonOperators=true',
      ],
      {
        ...{ mode: 'evict-then-delete', deleteAfterMs: 480_000, evictionsInFlightMax: 9 },
        ...{ comparisonOperators: true, semantics: 'precise', takeover: false },
      },
    ],
    [
      'all that runs by default',
      [],
      { taintEviction: true, nodeDrains: true, keepLimits: true, deleteAfterMs: null },
    ],
    ['no taint eviction', ['--controllers=*,-taint-eviction-controller'], { taintEviction: false }],
    ['no drains', ['--controllers=*,-node-drain-controller'], { nodeDrains: false }],
    ['no node lifecycle', [noLifecycle], { lifecycle: null }],
    [
      'nothing of the cluster is followed',
      ['--cluster-policies=false'],
      { nodeDrains: false, keepLimits: false },
    ],
    [
      "kube-controller-manager's rules, which know no policies",
      ['--semantics=kube-controller-manager'],
      { semantics: 'upstream-1.36', nodeDrains: false, keepLimits: false },
    ],
    [
      'a dry run, in which nothing that is accepted is seen to happen',
      ['--dry-run'],
      { keepTaintStarts: false, keepLimits: false, confirmationWaitMs: 86_400_000 },
    ],
    [
      'no dry run',
      [],
      { keepTaintStarts: undefined, confirmationWaitMs: undefined, keepLimits: true },
    ],
  ];
  for (const [name, flags, expected] of cases) {
    it(`is for ${name}`, () => assert.deepEqual(partOf(engineFor(...flags), expected), expected));
  }

  it('keeps counts of limits in files, though nothing of the cluster is followed', () => {
    const limits = [{ per: 'Namespace', pods: 1, window: '1h', onLimit: 'Trip' }];
    const metadata = { name: 'limits' };
    const policy = fileWith('policy.json', { kind: 'EvictionPolicy', metadata, spec: { limits } });
    const config = engineFor('--cluster-policies=false', `--policy=${policy}`);
    assert.equal(config.keepLimits, true);
  });

  it('has the flags of the node lifecycle, and what only the file says', () => {
    const kind = 'ControllerConfiguration';
    const file = fileWith('config.json', {
      kind,
      eviction: { minTaintAge: '2s' },
      nodeLifecycle: { healthy: '30s' },
    });
    const config = engineFor(
      `--config=${file}`,
      ...['--node-monitor-period=1s', '--node-monitor-grace-period=2m'],
      ...['--node-startup-grace-period=3m', '--node-eviction-rate=4'],
      ...['--secondary-node-eviction-rate=6', '--large-cluster-size-threshold=7'],
      '--unhealthy-zone-threshold=0.8',
    );
    assert.equal(config.minTaintAgeMs, 2000);
    const expected = {
      ...{ nodeMonitorPeriodMs: 1000, nodeMonitorGracePeriodMs: 120_000 },
      ...{ nodeStartupGracePeriodMs: 180_000, nodeEvictionRate: 4 },
      ...{ secondaryNodeEvictionRate: 6, largeClusterSizeThreshold: 7 },
      ...{ unhealthyZoneThreshold: 0.8, healthyMs: 30_000 },
    };
    assert.deepEqual(partOf(config.lifecycle, expected), expected);
    assert.equal(config.lifecycle?.observes, undefined);
  });

  it('takes the taints of node pressure off once that does not run any more', () => {
    const keysOf = (config: Partial<Config>, field: 'retiredRules' | 'conditionRules') =>
      config.lifecycle?.[field]?.map(({ taint }) => taint.key);
    const keys = ['memory', 'disk', 'pid'].map((name) => `taintmgr.dev/${name}-pressure`);
    const off = engineFor();
    assert.deepEqual(
      [keysOf(off, 'retiredRules'), keysOf(off, 'conditionRules')],
      [keys, undefined],
    );
    const on = engineFor(
      '--controllers=*,node-pressure-controller',
      '--eviction-hard=memory.available<1Gi',
    );
    assert.deepEqual(keysOf(on, 'conditionRules'), keys);
  });

  const graces: readonly (readonly [flag: string, graceMs: number])[] = [
    ['--node-monitor-grace-period=50s', 30_000],
    ['--node-monitor-grace-period=20s', 20_000],
  ];
  for (const [flag, graceMs] of graces) {
    it(`only looks at nodes with --takeover, soon enough: ${flag}`, () => {
      const { lifecycle, takeover } = engineFor('--takeover', noLifecycle, flag);
      assert.equal(takeover, true);
      assert.deepEqual([lifecycle?.observes, lifecycle?.nodeMonitorGracePeriodMs], [true, graceMs]);
    });
  }
});
