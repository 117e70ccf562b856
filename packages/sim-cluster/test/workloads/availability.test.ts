import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, statefulSet } from '../../src/builders.ts';
import { availabilityOf, untilAvailable } from '../../src/workloads/availability.ts';
import { small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const since = '2026-01-01T00:00:10Z';
const sinceMs = Date.parse(since);

const pod = (status: string, lastTransitionTime?: string) => ({
  metadata: { name: 'p' },
  status: {
    conditions: [{ type: 'Ready', status, ...(lastTransitionTime && { lastTransitionTime }) }],
  },
});

describe('the time until a pod is available', () => {
  const cases: readonly (readonly [
    name: string,
    one: Parameters<typeof untilAvailable>[0],
    minReadySeconds: number,
    afterMs: number,
    leftMs: number | null,
  ])[] = [
    ['is unknown while it is not ready', pod('False', since), 5, 9_000, null],
    ['is none where nothing is asked', pod('True'), 0, 0, 0],
    ['is what is left of minReadySeconds', pod('True', since), 5, 1_500, 3_500],
    ['is none in the very moment', pod('True', since), 5, 5_000, 0],
    ['is unknown where nobody says since when', pod('True'), 5, 5_000, null],
  ];
  for (const [name, one, minReadySeconds, afterMs, leftMs] of cases) {
    it(name, () => assert.equal(untilAvailable(one, minReadySeconds, sinceMs + afterMs), leftMs));
  }

  it('is for several that of the next one', () => {
    const later = pod('True', '2026-01-01T00:00:12Z');
    const pods = [pod('True', since), later, pod('False', since)];
    assert.deepEqual(availabilityOf(pods, 5, sinceMs + 5_000), { available: 1, nextMs: 2_000 });
    assert.deepEqual(availabilityOf(pods, 5, sinceMs + 7_000), { available: 2, nextMs: null });
  });
});

describe('with minReadySeconds', () => {
  it('a Deployment is available by pods that were ready so long', () => {
    const web = deployment('default', 'web', { replicas: 2, spec: { minReadySeconds: 10 } });
    const { api, pass, untilIdle } = virtualCluster({ topology: small(['a'], [web]) });
    const counts = () => {
      const { readyReplicas = 0, availableReplicas = 0 } =
        stored(api, 'deployments', 'default', 'web').status ?? {};
      return [readyReplicas, availableReplicas];
    };
    pass(6000);
    assert.deepEqual(counts(), [2, 0]);
    untilIdle();
    assert.deepEqual(counts(), [2, 2]);
  });

  it('a StatefulSet makes its next pod when the last one is available', () => {
    const db = statefulSet('default', 'db', { replicas: 2, spec: { minReadySeconds: 10 } });
    const { api, pass } = virtualCluster({ topology: small(['a'], [db]) });
    pass(6000);
    assert.equal(stored(api, 'statefulsets', 'default', 'db').status.readyReplicas, 1);
    assert.equal(api.get('pods', 'default', 'db-1'), null);
    pass(9000);
    assert.ok(api.get('pods', 'default', 'db-1'));
  });
});
