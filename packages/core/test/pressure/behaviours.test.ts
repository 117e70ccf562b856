import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PressureConfig, PressureSettingsInput } from '@taintmgr/core/pressure';
import {
  evictions,
  Gi,
  machineWith,
  observationOf,
  pressurePod,
  see,
  semanticsNames,
  usageOf,
} from './objects.ts';

const soft: PressureSettingsInput = {
  evictionHard: {},
  evictionSoft: { 'memory.available': '1Gi' },
  evictionSoftGracePeriod: { 'memory.available': '1ms' },
};

const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

/** The grace that the first pod is given when memory is short. */
function graceOf(
  settings: PressureSettingsInput,
  gracePeriodSeconds: number | null,
  semantics: PressureConfig['semantics'],
): number | undefined {
  const machine = machineWith([pressurePod('web', { gracePeriodSeconds })], settings, {
    semantics,
  });
  const usage = [usageOf('web', { workingSetBytes: Gi })];
  see(machine, 1000, observationOf({ 'memory.available': [1, 8 * Gi, 1000] }, usage));
  const later = observationOf({ 'memory.available': [1, 8 * Gi, 2000] }, usage);
  const machineHard = machineWith([pressurePod('web', { gracePeriodSeconds })], settings, {
    semantics,
  });
  const atOnce = evictions(see(machineHard, 2000, later))[0]?.gracePeriodSeconds;
  return atOnce ?? evictions(see(machine, 2000, later))[0]?.gracePeriodSeconds;
}

describe('the time a pod is given', () => {
  const max = (seconds: number) => ({ ...soft, evictionMaxPodGracePeriod: seconds });
  const cases: readonly [
    name: string,
    settings: PressureSettingsInput,
    own: number | null,
    expected: readonly (number | undefined)[],
  ][] = [
    ['hard', hard, 30, [1, 1, 0]],
    ['soft, the maximum is less than its own', max(5), 30, [5, 5, 5]],
    ['soft, its own is less', max(600), 30, [30, 30, 600]],
    ['soft, it has none', max(600), null, [30, 600, 600]],
    ['soft, the pod should decide', max(-1), 20, [20, -1, -1]],
    ['soft, no maximum given', soft, 30, [1, 0, 0]],
  ];
  for (const [name, settings, own, expected] of cases) {
    it(name, () => {
      const ours = semanticsNames.map((semantics) => graceOf(settings, own, semantics));
      assert.deepEqual(ours, expected);
    });
  }
});

describe('the pod in which the machine runs', () => {
  for (const semantics of semanticsNames) {
    it(`is not evicted, and the next one is (${semantics})`, () => {
      const pods = ['self', 'web'].map((name) => pressurePod(name));
      const usage = pods.map(({ uid }, at) => usageOf(uid, { workingSetBytes: (2 - at) * Gi }));
      const short = observationOf({ 'memory.available': [1, 8 * Gi, 2000] }, usage);
      const first = (ownPod: PressureConfig['ownPod']) =>
        evictions(see(machineWith(pods, hard, { semantics, ownPod }), 2000, short))[0]?.pod.name;
      assert.deepEqual([first(null), first({ namespace: 'shop', name: 'self' })], ['self', 'web']);
    });
  }
});
