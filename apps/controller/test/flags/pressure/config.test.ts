import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkChoices } from '../../../src/flags/checks.ts';
import { watchesNode } from '../../../src/flags/pressure/config.ts';
import { resolveChoices } from '../../../src/flags/resolve.ts';
import { pressureTaintRules } from '../../../src/process/engine-config.ts';

const on = '--controllers=node-pressure-controller';

function check(...flags: readonly string[]) {
  return checkChoices(resolveChoices(flags, {}));
}

function fileOf(text: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'pressure-')), 'config.yaml');
  writeFileSync(file, `apiVersion: taintmgr.dev/v1alpha1\nkind: ControllerConfiguration\n${text}`);
  return file;
}

describe('what node-pressure-controller is told', () => {
  it('is nothing while it does not run', () => {
    assert.equal(check('--eviction-hard=memory.available<1Gi').pressure, null);
  });

  it('by flags, in the words of a kubelet', () => {
    const { pressure } = check(
      on,
      '--eviction-hard=memory.available<1Gi,nodefs.available<10%',
      '--eviction-soft=memory.available<2Gi',
      '--eviction-soft-grace-period=memory.available=1m30s',
      '--eviction-minimum-reclaim=memory.available=500Mi',
      '--eviction-pressure-transition-period=2m',
      '--eviction-max-pod-grace-period=30',
    );
    assert.deepEqual(pressure?.settings, {
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%' },
      evictionSoft: { 'memory.available': '2Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s' },
      evictionMinimumReclaim: { 'memory.available': '500Mi' },
      evictionPressureTransitionPeriod: '120000ms',
      evictionMaxPodGracePeriod: 30,
    });
    assert.equal(pressure?.leader, false);
  });

  it('by the file, with pools', () => {
    const file = fileOf(
      `controllers: ['*', node-pressure-controller]
nodePressure:
  evictionHard: {memory.available: 1Gi}
  pools:
    - name: large
      selector: {matchLabels: {size: large}}
      evictionHard: {memory.available: 4Gi}
`,
    );
    const { pressure, controllers } = check(`--config=${file}`);
    assert.ok(controllers.enabled.includes('node-pressure-controller'));
    assert.deepEqual(pressure?.settings?.evictionHard, { 'memory.available': '1Gi' });
    assert.deepEqual(pressure?.pools?.[0], {
      name: 'large',
      selector: { matchLabels: { size: 'large' } },
      settings: { evictionHard: { 'memory.available': '4Gi' } },
    });
  });

  it('by pools alone: all other nodes are left alone', () => {
    const file = fileOf(
      `nodePressure:
  pools: [{name: a, selector: {matchLabels: {size: a}}, evictionHard: {memory.available: 1Gi}}]
`,
    );
    const { pressure } = check(on, `--config=${file}`);
    assert.equal(pressure?.settings, null);
    const watches = watchesNode(pressure ?? {});
    const node = (size: string) => ({ name: 'n', uid: 'u', labels: { size }, conditions: [] });
    assert.deepEqual([watches(node('a')), watches(node('b'))], [true, false]);
  });

  it('with the grace period of each pod, as -1 means it for a kubelet', () => {
    const soft = [
      '--eviction-soft=memory.available<1Gi',
      '--eviction-soft-grace-period=memory.available=1m',
    ];
    const { pressure } = check(on, ...soft, '--eviction-max-pod-grace-period=-1');
    assert.equal(pressure?.settings?.evictionMaxPodGracePeriod, -1);
  });

  const refused: readonly (readonly [flag: string, message: RegExp])[] = [
    ['--eviction-hard=', /none of its own/],
    ['--eviction-hard=memory.available', /--eviction-hard: got "memory.available", want pairs/],
    ['--eviction-hard=memory.avail<1Gi', /unsupported eviction signal memory.avail/],
    ['--eviction-hard=memory.available<0', /must be positive: 0/],
    ['--eviction-soft=memory.available<1Gi', /grace period must be specified/],
    ['--eviction-max-pod-grace-period=-2', /a whole number from -1/],
  ];
  for (const [flag, message] of refused) {
    it(`not by ${flag}`, () => {
      assert.throws(() => check(on, flag), { name: 'SettingError', message });
    });
  }
});

describe('taints for what it sees', () => {
  it('are put on by rules of the node lifecycle', () => {
    const taints = pressureTaintRules([]).map(({ condition, taint }) => [condition, taint.key]);
    assert.deepEqual(taints, [
      ['taintmgr.dev/MemoryPressure', 'taintmgr.dev/memory-pressure'],
      ['taintmgr.dev/DiskPressure', 'taintmgr.dev/disk-pressure'],
      ['taintmgr.dev/PIDPressure', 'taintmgr.dev/pid-pressure'],
    ]);
  });

  it('are not for conditions that the user has a rule for', () => {
    const [ours] = pressureTaintRules([]);
    const own = { ...(ours ?? assert.fail()), name: 'own' };
    const others = pressureTaintRules([own]).map(({ condition }) => condition);
    assert.deepEqual(
      others,
      pressureTaintRules([])
        .slice(1)
        .map(({ condition }) => condition),
    );
  });
});
