import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { controllerOf } from '../../src/controllers/pods.ts';
import { BudgetPods, isHealthy } from '../../src/disruption/budget-pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { fc } from '../world/fast-check.ts';

const change = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  owner: fc.constantFrom(null, 'web', 'api'),
  ready: fc.boolean(),
  going: fc.boolean(),
  gone: fc.boolean(),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function podOf({ name, owner, ready, going }: Change): KubeObject {
  const { metadata, ...rest } = pod('default', name);
  const reference = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `${owner}`,
    uid: `${owner}`,
  };
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...(going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ownerReferences: owner === null ? [] : [{ ...reference, controller: true }],
    },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

describe('pods of a budget', () => {
  it('are counted as if all were looked at each time', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const counted = new BudgetPods();
        const all = new Map<string, KubeObject>();
        for (const one of changes) {
          if (one.gone) {
            counted.delete(one.name);
            all.delete(one.name);
          } else {
            counted.set(one.name, podOf(one));
            all.set(one.name, podOf(one));
          }
          const pods = [...all.values()];
          const owners = new Set(pods.flatMap((each) => controllerOf(each)?.uid ?? []));
          assert.equal(counted.size, pods.length);
          assert.equal(counted.healthy, pods.filter(isHealthy).length);
          assert.deepEqual(new Set(Array.from(counted.owners(), ({ owner }) => owner.uid)), owners);
        }
      }),
    );
  });
});
