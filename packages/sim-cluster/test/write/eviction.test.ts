// Evictions judged by a budget whose status is what it is said to be.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pdb, pod } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import { evict, stored, virtualCluster } from '../world/virtual-cluster.ts';

const ns = 'default';
const counted = { observedGeneration: 1, expectedPods: 3, desiredHealthy: 2, currentHealthy: 3 };
const many = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p-${at}`, '2026-01-01T00:00:00Z']));

/** A running pod and its budget, of which nobody else keeps account. */
function start(podStatus: object, budgetStatus: object) {
  const { metadata, ...budget } = pdb(ns, 'web', { minAvailable: 2 });
  // Loaded, as nobody could write all that a budget may say.
  const loaded = { ...budget, metadata: { ...metadata, generation: 1 }, status: budgetStatus };
  const running = virtualCluster({
    snapshot: [loaded],
    without: ['disruption', 'garbageCollection'],
  });
  const { api } = running;
  const { spec, ...rest } = pod(ns, 'web');
  const made = api.create('pods', { ...rest, spec: { ...spec, nodeName: 'n' } });
  api.update('pods', { ...made, status: { ...made.status, ...podStatus } }, 'status');
  return running;
}

const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const unready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };

describe('an eviction', () => {
  const short = { ...counted, currentHealthy: 1, disruptionsAllowed: 0 };
  const cases: readonly (readonly [name: string, pod: object, budget: object, code: number])[] = [
    [
      'is allowed as long as the budget allows one',
      ready,
      { ...counted, disruptionsAllowed: 1 },
      201,
    ],
    ['is refused where it allows none', ready, { ...counted, disruptionsAllowed: 0 }, 429],
    [
      'is refused where it allows less than none',
      ready,
      { ...counted, disruptionsAllowed: -1 },
      403,
    ],
    [
      'is allowed beside 2000 that are not confirmed',
      ready,
      { ...counted, disruptionsAllowed: 1, disruptedPods: many(2000) },
      201,
    ],
    [
      'is refused beside more',
      ready,
      { ...counted, disruptionsAllowed: 1, disruptedPods: many(2001) },
      403,
    ],
    ['of a pod that is not ready is refused where too few are', unready, short, 429],
    [
      'of a pod that does not run yet is no matter of the budget',
      { ...unready, phase: 'Pending' },
      short,
      201,
    ],
  ];
  for (const [name, podStatus, budgetStatus, code] of cases) {
    it(name, () => {
      const { api } = start(podStatus, budgetStatus);
      const before = stored(api, 'poddisruptionbudgets', ns, 'web');
      assert.equal(evict(api, ns, 'web'), code);
      const isEnding = api.get('pods', ns, 'web')?.metadata.deletionTimestamp !== undefined;
      assert.equal(isEnding, code === 201);
      if (code !== 201) assert.deepEqual(stored(api, 'poddisruptionbudgets', ns, 'web'), before);
    });
  }

  it('leaves the time of a mark that the pod has already', () => {
    const lastTransitionTime = '2025-12-31T00:00:00Z';
    const target = {
      type: 'DisruptionTarget',
      reason: 'DeletionByTaintManager',
      lastTransitionTime,
    };
    for (const [status, time] of [
      ['True', lastTransitionTime],
      ['False', '2026-01-01T00:00:00Z'],
    ] as const) {
      const conditions = [...ready.conditions, { ...target, status }];
      const { api } = start({ ...ready, conditions }, { ...counted, disruptionsAllowed: 1 });
      assert.equal(evict(api, ns, 'web'), 201);
      const mark = conditionOf(stored(api, 'pods', ns, 'web'), 'DisruptionTarget');
      assert.deepEqual(
        [mark?.status, mark?.reason, mark?.lastTransitionTime],
        ['True', 'EvictionByEvictionAPI', time],
      );
    }
  });
});
