import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unknownRulesOf } from '../../src/scheduler/unknown-rules.ts';

describe('rules that the scheduler does not know', () => {
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['none of a plain pod', {}, []],
    ['none of its own pods', { schedulerName: 'default-scheduler', resourceClaims: [] }, []],
    ['those of another scheduler', { schedulerName: 'volcano' }, ['schedulerName']],
    ['devices that are claimed', { resourceClaims: [{ name: 'gpu' }] }, ['resourceClaims']],
  ];
  for (const [name, spec, expected] of cases) {
    it(name, () => assert.deepEqual(unknownRulesOf(spec), expected));
  }
});
