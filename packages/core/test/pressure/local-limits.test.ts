import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PressureSettingsInput } from '@taintmgr/core/pressure';
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
import { itAnswersPressure } from './script.ts';

const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

describe('a volume that does not say what it holds', () => {
  for (const semantics of semanticsNames) {
    it(`is not known to exceed its limit: ${semantics}`, () => {
      const volumes = [{ name: 'cache', kind: 'emptyDir', sizeLimit: '1Gi' }];
      const machine = machineWith([pressurePod('web', { volumes })], hard, { semantics });
      const usage = usageOf('web', {
        volumes: [{ name: 'cache', usedBytes: null, inodesUsed: null }],
      });
      const seen = observationOf({ 'memory.available': [2 * Gi, 8 * Gi, 1000] }, [usage]);
      assert.deepEqual(evictions(see(machine, 1000, seen)), []);
    });
  }
});

itAnswersPressure('local-limits');
