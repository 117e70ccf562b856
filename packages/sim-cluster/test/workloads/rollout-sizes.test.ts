import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import {
  newReplicas,
  oldSizes,
  proportionalSizes,
  surgeMax,
  unavailableMax,
} from '../../src/workloads/rollout-sizes.ts';

type Limit = number | string;

function deployment(replicas: number, maxSurge: Limit, maxUnavailable: Limit): KubeObject {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
  return { metadata: { name: 'web' }, spec: { replicas, strategy } };
}

/** A ReplicaSet that was given its size when there were to be so many pods, surge included. */
function set(name: string, replicas: number, available: number, max = 0): KubeObject {
  const notes = {
    'deployment.kubernetes.io/desired-replicas': '0',
    'deployment.kubernetes.io/max-replicas': String(max),
  };
  return {
    metadata: { name, ...(max > 0 ? { annotations: notes } : {}) },
    spec: { replicas },
    status: { replicas, availableReplicas: available },
  };
}

describe('limits of a rolling update', () => {
  const cases: readonly (readonly [
    replicas: number,
    maxSurge: Limit,
    maxUnavailable: Limit,
    surge: number,
    unavailable: number,
  ])[] = [
    [10, '25%', '25%', 3, 2],
    [3, '25%', '25%', 1, 0],
    [3, 0, '25%', 0, 1],
    [2, 0, 5, 0, 2],
    [0, 1, 1, 1, 0],
  ];
  for (const [replicas, maxSurge, maxUnavailable, surge, unavailable] of cases) {
    it(`of ${replicas} with surge ${maxSurge} and unavailable ${maxUnavailable}`, () => {
      const web = deployment(replicas, maxSurge, maxUnavailable);
      assert.deepEqual([surgeMax(web), unavailableMax(web)], [surge, unavailable]);
    });
  }
});

describe('steps of a rolling update', () => {
  const web = deployment(10, 3, 2);
  const cases: readonly (readonly [
    name: string,
    current: KubeObject,
    old: readonly KubeObject[],
    grown: number,
    shrunk: Readonly<Record<string, number>>,
  ])[] = [
    ['begin with both limits', set('new', 0, 0), [set('old', 10, 10)], 3, { old: 8 }],
    ['wait while none is available', set('new', 5, 0), [set('old', 8, 8)], 5, {}],
    ['go on by those that are', set('new', 5, 2), [set('old', 8, 8)], 5, { old: 6 }],
    [
      'take those first that are not available',
      set('new', 3, 3),
      [set('a', 4, 2), set('b', 6, 6)],
      3,
      { a: 0, b: 5 },
    ],
    ['end with none', set('new', 10, 10), [set('old', 2, 2)], 10, { old: 0 }],
  ];
  for (const [name, current, old, grown, shrunk] of cases) {
    it(name, () => {
      const look = { deployment: web, current, old };
      assert.equal(newReplicas(look), grown);
      const sizes = Array.from(oldSizes(look), ([one, size]) => [one.metadata.name, size]);
      assert.deepEqual(Object.fromEntries(sizes), shrunk);
    });
  }
});

describe('a scale in a rollout', () => {
  const cases: readonly (readonly [
    name: string,
    replicas: number,
    sets: readonly KubeObject[],
    sizes: Readonly<Record<string, number>>,
  ])[] = [
    ['goes to the only one with pods', 7, [set('old', 4, 4), set('new', 0, 0)], { old: 7 }],
    [
      'grows all in proportion',
      15,
      [set('old', 8, 8, 13), set('new', 5, 0, 13)],
      { old: 11, new: 7 },
    ],
    [
      'shrinks all in proportion',
      4,
      [set('old', 8, 8, 13), set('new', 5, 0, 13)],
      { old: 4, new: 3 },
    ],
    ['takes all away', 0, [set('old', 8, 8, 13), set('new', 5, 0, 13)], { old: 0, new: 0 }],
  ];
  for (const [name, replicas, sets, sizes] of cases) {
    it(name, () => {
      const [old = assert.fail(), current = assert.fail()] = sets;
      const look = { deployment: deployment(replicas, 3, 2), current, old: [old] };
      const found = Array.from(proportionalSizes(look), ([one, size]) => [one.metadata.name, size]);
      assert.deepEqual(Object.fromEntries(found), sizes);
    });
  }
});
