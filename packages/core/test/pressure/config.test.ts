import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolvePressureConfig } from '@taintmgr/core/pressure';

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
