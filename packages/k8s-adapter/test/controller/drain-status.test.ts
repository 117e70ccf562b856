// The status of NodeDrains: when it is written, and how large it gets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeDrainState } from '@taintmgr/core/drain';
import { fittedStatus } from '@taintmgr/core/policy';
import { drainStatus } from '../../src/controller/drain-status.ts';

/** A drain of many nodes and pods, all of which have much to say. */
function large(nodes: number, pods: number): NodeDrainState {
  const message = 'The disruption budget says a lot. '.repeat(60);
  const blocker = { code: 'Budget', verdict: 'never', message } as const;
  return {
    ...{ phase: 'Blocked', startedAt: 0, endedAt: null, expectedEnd: null, wave: '' },
    ...{ podsGone: 3, podsLeft: pods },
    nodes: Array.from({ length: nodes }, (_, index) => ({
      ...{ name: `node-${index}`, phase: 'Held', startedAt: 0, waitsSince: null, endedAt: null },
      ...{ podsGone: 0, podsLeft: 5, reason: 'AnotherDrain', message },
    })),
    pods: Array.from({ length: pods }, (_, index) => {
      return { node: 'node-1', pod: `shop/web-${index}`, state: 'blocked', blocker, hold: '' };
    }),
    volumeWaits: [{ statefulSet: 'shop/db', since: 5000 }],
    blockers: Array.from({ length: pods }, (_, index) => `pod shop/web-${index}: ${message}`),
  };
}

describe('the status of a NodeDrain', () => {
  it('has a bound, however many pods are blocked: it says how many they are', () => {
    const { value } = fittedStatus('NodeDrain', drainStatus(large(1000, 5000)));
    const status = value as ReturnType<typeof drainStatus>;
    assert.equal(status.podsLeft, 5000);
    assert.equal(status.pods?.length, 100);
    assert.equal(status.blockers?.length, 32);
    assert.equal(status.nodeStates?.length, 1000);
    const since = '1970-01-01T00:00:05Z';
    assert.deepEqual(status.volumeWaits, [{ statefulSet: 'shop/db', since }]);
    // The API server takes 1.5 MB.
    assert.ok(JSON.stringify(status).length < 700_000);
  });
});
