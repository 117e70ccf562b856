import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodRef } from '@taintmgr/core';
import type { Notice } from '@taintmgr/k8s-adapter';
import { Setbacks } from '../../src/log/setbacks.ts';

const pod: PodRef = { namespace: 'shop', name: 'web-0', uid: 'u1', nodeName: 'n1' };

function retry(attempt: number, at: number, message = 'budget web', of = pod): Notice {
  const setback = { kind: 'blocked', message, retryAfter: null } as const;
  const blocker = { code: 'Budget', verdict: 'needsTime', message } as const;
  return { kind: 'report', report: { kind: 'retry', pod: of, attempt, at, setback, blocker } };
}

/** When a pod that is refused every five seconds is spoken of, in seconds. */
function said(setbacks: Setbacks, end: number): readonly number[] {
  const times = Array.from({ length: end / 5 }, (_, index) => index * 5);
  return times.filter((at) => !setbacks.isKnown(retry(at / 5 + 1, at * 1000 + 5000), at * 1000));
}

describe('setbacks', () => {
  it('are news once, then after pauses that grow up to an hour', () => {
    const times = said(new Setbacks(), 36_000);
    assert.deepEqual(times.slice(0, 8), [0, 60, 180, 420, 900, 1860, 3780, 7380]);
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    assert.ok(pauses.every((pause) => pause <= 3_600));
  });

  it('are news where they are others, and the try after them is not', () => {
    const setbacks = new Setbacks();
    assert.equal(setbacks.isKnown(retry(1, 5_000), 0), false);
    assert.equal(setbacks.isKnown(retry(2, 10_000), 5_000), true);
    assert.equal(setbacks.isKnown(retry(3, 15_000, 'budget api'), 10_000), false);
    assert.equal(
      setbacks.isKnown(retry(1, 5_000, 'budget web', { ...pod, uid: 'u2' }), 10_000),
      false,
    );
    const to = null;
    const report = {
      kind: 'deadline',
      pod,
      from: 0,
      to,
      cause: 'PodDeleted',
      because: [],
    } as const;
    assert.equal(setbacks.isKnown({ kind: 'report', report }, 11_000), false);
    assert.equal(setbacks.isKnown(retry(1, 20_000, 'budget api'), 15_000), false);
  });
});
