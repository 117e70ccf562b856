import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQuantity, quantityValue } from '@taintmgr/core';
import {
  formatThreshold,
  type PressureSettingsInput,
  parseEvictionFlag,
  resolvePressureConfig,
  resolvePressureSettings,
} from '@taintmgr/core/pressure';
import { parseGoDuration } from '../../../src/kernel/go-number.ts';
import { formatAmount } from '../../../src/model/quantity.ts';
import { withContainerFilesystem } from '../../../src/pressure/settings/settings.ts';
import { amountOf } from '../../../src/pressure/settings/thresholds.ts';
import { fc } from '../../fast-check.ts';

describe('quantities', () => {
  it('are read in linear time', () => {
    // With a backtracking expression each would take a minute.
    const zeros = '0'.repeat(200_000);
    assert.throws(() => parseQuantity(`.${zeros}\u0000`), /must match the regular expression/);
  });

  const cases: readonly [text: string, value: number, printed: string][] = [
    ['0', 0, '0'],
    ['1024Mi', 2 ** 30, '1Gi'],
    ['1.5Gi', 1.5 * 2 ** 30, '1536Mi'],
    ['1000', 1000, '1k'],
    ['1234', 1234, '1234'],
    ['1.5', 1.5, '1500m'],
    ['5.', 5, '5.'],
    ['-2Ki', -2048, '-2Ki'],
    ['1e3', 1000, '1e3'],
    ['2000e3', 2_000_000, '2e6'],
    ['1e21', 1e21, '1e21'],
    ['1000E', 1e21, '1e21'],
    ['8Ei', 2 ** 63, '9223372036854775807'],
    ['0.1n', 1e-9, '1n'],
    ['0.0001Ki', 0.1024, '102400u'],
    ['9007199254740993', 2 ** 53, '9007199254740993'],
  ];
  for (const [text, value, printed] of cases) {
    it(`${text} is ${printed}`, () => {
      const quantity = parseQuantity(text);
      assert.equal(quantityValue(quantity), value);
      assert.equal(quantity.text, printed);
    });
  }

  it('refuses what is none, and what nobody means', () => {
    for (const text of ['', 'Gi1', '1Gib', '1 Gi', '--1', '1e', '1e1000000', '9'.repeat(101)]) {
      assert.throws(() => parseQuantity(text), RangeError, text);
    }
  });

  it('reads again what it printed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 40), max: 2 ** 52 }), (amount) => {
        assert.equal(quantityValue(parseQuantity(formatAmount(amount))), amount);
        assert.equal(quantityValue(parseQuantity(formatAmount(amount, 'DecimalSI'))), amount);
      }),
    );
  });
});

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

describe('flags', () => {
  it('are pairs', () => {
    assert.deepEqual(parseEvictionFlag('memory.available<1Gi,, nodefs.available < 10% ', '<'), {
      'memory.available': '1Gi',
      'nodefs.available': '10%',
    });
    assert.deepEqual(parseEvictionFlag('a=1m,a=2m', '='), { a: '2m' });
    assert.deepEqual(parseEvictionFlag('', '='), {});
  });

  it('are refused in the kubelet’s words', () => {
    assert.throws(() => parseEvictionFlag('memory.available', '<'), {
      message: 'malformed pair, expect string<string',
    });
    assert.throws(() => parseEvictionFlag('memory.available<1m', '='), {
      message: 'malformed pair, expect string=string',
    });
  });
});

describe('durations', () => {
  it('are Go’s', () => {
    const second = 1_000_000_000n;
    assert.equal(parseGoDuration('1h30m'), 5400n * second);
    assert.equal(parseGoDuration('-1.5s'), (-3n * second) / 2n);
    assert.equal(parseGoDuration('+0.25µs'), 250n);
    assert.throws(() => parseGoDuration('9223372036854775808ns'), RangeError);
  });
});

describe('config', () => {
  const refused: readonly [Parameters<typeof resolvePressureConfig>[0], string][] = [
    [{ sampleAgeMsMax: 0 }, 'pressure.sampleAgeMsMax: got 0, want a whole number from 1'],
    [{ evictionsInFlightMax: 0 }, 'pressure.evictionsInFlightMax: got 0'],
    [{ evictionsPerSecond: 0 }, 'pressure.evictionsPerSecond: got 0'],
    [{ retryWaitMsMin: 10, retryWaitMsMax: 5 }, 'pressure.retryWaitMsMax: got 5'],
    [
      {
        pools: [{ name: 'a', selector: {}, settings: { evictionHard: { 'pid.available': 'x' } } }],
      },
      'config.pressure.pools["a"]: quantities must match',
    ],
  ];
  for (const [options, message] of refused) {
    it(`refuses: ${message}`, () => {
      assert.throws(
        () => resolvePressureConfig(options),
        (error) => error instanceof RangeError && error.message.includes(message),
      );
    });
  }
});
