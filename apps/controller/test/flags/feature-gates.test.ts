import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFeatureGates } from '../../src/flags/feature-gates.ts';

describe('--feature-gates', () => {
  const gate = 'TaintTolerationComparisonOperators';
  const cases: readonly (readonly [entries: string, expected: boolean | string])[] = [
    ['', false],
    [`${gate}=true`, true],
    [`${gate}=false`, false],
    [gate, gate],
    [`${gate}=maybe`, `${gate}=maybe`],
    ['Other=true', false],
    [`DRADeviceTaints=true,${gate}=true,kube:InPlacePodVerticalScaling=false`, true],
    [`kube:${gate}=true`, true],
    ['Other=maybe', 'Other=maybe'],
    ['Other', 'Other'],
    ['TaintBasedEvictions=true', 'TaintBasedEvictions=true'],
  ];
  for (const [entries, expected] of cases) {
    it(entries || 'nothing', () => {
      const gates = readFeatureGates(entries === '' ? [] : entries.split(','));
      const got = typeof gates === 'string' ? gates : gates.TaintTolerationComparisonOperators;
      assert.equal(got, expected);
    });
  }
});
