import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatThreshold,
  type PressureSettingsInput,
  resolvePressureConfig,
  resolvePressureSettings,
} from '@taintmgr/core/pressure';
import { withContainerFilesystem } from '../../../src/pressure/settings/settings.ts';
import { amountOf } from '../../../src/pressure/settings/thresholds.ts';
import { itIsAsRecorded } from '../../conformance/recorded.ts';

function thresholdsOf(settings: PressureSettingsInput): readonly string[] {
  return resolvePressureSettings({ enforceNodeAllocatable: [], ...settings }).thresholds.map(
    (threshold) => `${formatThreshold(threshold)} ${threshold.gracePeriodMs}`,
  );
}

describe('thresholds', () => {
  const accepted: readonly [name: string, PressureSettingsInput, readonly string[]][] = [
    [
      'defaults, where nothing is said',
      {},
      [
        'memory.available<100Mi 0',
        'nodefs.available<10% 0',
        'nodefs.inodesFree<5% 0',
        'imagefs.available<15% 0',
        'imagefs.inodesFree<5% 0',
      ],
    ],
    [
      'one signal switches the other defaults off',
      { evictionHard: { 'memory.available': '1Gi' } },
      ['memory.available<1Gi 0'],
    ],
    [
      'unless they are merged',
      { evictionHard: { 'memory.available': '1Gi' }, mergeDefaultEvictionSettings: true },
      [
        'memory.available<1Gi 0',
        'nodefs.available<10% 0',
        'nodefs.inodesFree<5% 0',
        'imagefs.available<15% 0',
        'imagefs.inodesFree<5% 0',
      ],
    ],
    ['an empty map switches all off', { evictionHard: {} }, []],
    [
      'a soft threshold without grace is a hard one',
      {
        evictionHard: {},
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'memory.available': '0s' },
        enforceNodeAllocatable: ['pods'],
      },
      ['allocatableMemory.available<1Gi 0', 'memory.available<1Gi 0'],
    ],
    [
      '0% and 100% switch a signal off',
      { evictionHard: { 'memory.available': '0%', 'pid.available': '100%' } },
      [],
    ],
  ];
  for (const [name, settings, expected] of accepted) {
    it(name, () => assert.deepEqual(thresholdsOf(settings), expected));
  }

  const hard = (value: string) => ({ evictionHard: { 'memory.available': value } });
  const soft = (grace: string) => ({
    evictionSoft: { 'memory.available': '1Gi' },
    evictionSoftGracePeriod: { 'memory.available': grace },
  });
  const refused: readonly [PressureSettingsInput, message: string][] = [
    [hard('0'), 'eviction threshold memory.available must be positive: 0'],
    [hard('-1Mi'), 'eviction threshold memory.available must be positive: -1Mi'],
    [hard('101%'), 'eviction percentage threshold memory.available must be <= 100%: 101%'],
    [hard('-1%'), 'eviction percentage threshold memory.available must be >= 0%: -1%'],
    [hard('1e39%'), 'strconv.ParseFloat: parsing "1e39": value out of range'],
    [{ evictionHard: { 'memory.avail': '1Gi' } }, 'unsupported eviction signal memory.avail'],
    [{ evictionHard: { constructor: '1Gi' } }, 'unsupported eviction signal constructor'],
    [soft('90'), 'time: missing unit in duration "90"'],
    [soft('abc'), 'time: invalid duration "abc"'],
    [soft('1toString'), 'time: unknown unit "toString" in duration "1toString"'],
    [soft('-1s'), 'invalid eviction grace period specified: -1s, must be a positive value'],
    [
      { evictionSoft: { 'memory.available': '1Gi' } },
      'grace period must be specified for the soft eviction threshold memory.available',
    ],
    [
      { evictionMinimumReclaim: { 'memory.available': '0%' } },
      'eviction percentage minimum reclaim memory.available must be positive: 0%',
    ],
    [
      { evictionMinimumReclaim: { 'memory.available': '-1' } },
      'negative eviction minimum reclaim specified for memory.available',
    ],
    [
      { evictionPressureTransitionPeriod: '-1s' },
      'evictionPressureTransitionPeriod: got -1s, want 0 or more',
    ],
    [
      { evictionMaxPodGracePeriod: 1.5 },
      'evictionMaxPodGracePeriod: got 1.5, want a whole number of seconds',
    ],
  ];
  for (const [settings, message] of refused) {
    it(`refuses: ${message}`, () => {
      assert.throws(() => resolvePressureSettings(settings), { name: 'RangeError', message });
      assert.throws(() => resolvePressureConfig({ settings }), {
        name: 'RangeError',
        message: `config.pressure.settings: ${message}`,
      });
    });
  }

  it('takes percentages as float32, as the kubelet does', () => {
    const of = (value: string, capacity: number): number => {
      const { thresholds } = resolvePressureSettings(hard(value));
      return amountOf(thresholds[0]?.value ?? null, capacity);
    };
    assert.equal(of('10%', 10 * 2 ** 30), 1073741840);
    assert.equal(of('29%', 100), 28);
    assert.equal(of('57%', 100), 56);
    assert.equal(of('7%', 100), 7);
    assert.equal(of('15%', 100 * 2 ** 30), 16106128000);
  });

  it('copies thresholds for writable layers from the disk they lie on', () => {
    const { thresholds } = resolvePressureSettings({
      evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '15%' },
      evictionSoft: { 'containerfs.available': '50%' },
      evictionSoftGracePeriod: { 'containerfs.available': '1m' },
    });
    const derived = (['single', 'dedicatedImages', 'splitImages'] as const).map((layout) => {
      const { thresholds: all, ignored } = withContainerFilesystem(thresholds, layout);
      assert.deepEqual(ignored.map(formatThreshold), ['containerfs.available<50%']);
      return all.map(formatThreshold).filter((text) => text.startsWith('containerfs'));
    });
    assert.deepEqual(derived, [
      ['containerfs.available<10%'],
      ['containerfs.available<15%'],
      ['containerfs.available<10%'],
    ]);
  });
});

itIsAsRecorded('kubelet-threshold-parse', 260);
