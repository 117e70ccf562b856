import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobEnd } from '../../src/survey/job-ends.ts';

const on = (action: string, status?: string): object => ({
  podFailurePolicy: {
    rules: [
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      { action, onPodConditions: [{ type: 'DisruptionTarget', ...(status && { status }) }] },
    ],
  },
});
const ignoresNone = 'no podFailurePolicy ignores DisruptionTarget';

const jobs: readonly (readonly [
  spec: object,
  failed: number,
  evicted: number,
  end: string | null,
])[] = [
  [{ backoffLimit: 0 }, 0, 1, `backoffLimit 0 and ${ignoresNone}`],
  [{ backoffLimit: 0, ...on('Ignore') }, 0, 1, null],
  [{ backoffLimit: 0, ...on('Ignore', 'True') }, 0, 1, null],
  [{ backoffLimit: 0, ...on('Ignore', 'False') }, 0, 1, `backoffLimit 0 and ${ignoresNone}`],
  [
    { backoffLimit: 0, ...on('Count') },
    0,
    1,
    'backoffLimit 0 and its podFailurePolicy counts DisruptionTarget',
  ],
  [on('FailJob'), 0, 1, 'its podFailurePolicy has FailJob for DisruptionTarget'],
  [
    { backoffLimitPerIndex: 3, ...on('FailIndex') },
    0,
    1,
    'its podFailurePolicy has FailIndex for DisruptionTarget',
  ],
  [{ backoffLimitPerIndex: 0 }, 0, 1, `backoffLimitPerIndex 0 and ${ignoresNone}`],
  [{ backoffLimitPerIndex: 1 }, 0, 1, null],
  [{}, 0, 6, null],
  [{}, 5, 1, null],
  [{}, 6, 1, `backoffLimit 6, 6 failed before and ${ignoresNone}`],
  [{}, 5, 2, `backoffLimit 6, 5 failed before, 2 pods evicted and ${ignoresNone}`],
];

describe('a Job whose pods are evicted', () => {
  for (const [spec, failed, evicted, end] of jobs) {
    it(`${JSON.stringify(spec)}, ${failed} failed, ${evicted} evicted: ${end ?? 'goes on'}`, () => {
      assert.equal(jobEnd({ spec, status: { failed } }, evicted), end);
    });
  }
});
