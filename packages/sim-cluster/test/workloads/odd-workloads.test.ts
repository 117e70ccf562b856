// Workloads that are accepted and that nobody can carry out as they are.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, job, statefulSet } from '../../src/builders.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { podsOf, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

describe('a StatefulSet with a template of claims without a name', () => {
  for (const template of [{}, null, { metadata: null }, { metadata: {} }]) {
    it(`${JSON.stringify(template)} gets no pods, and others get theirs`, () => {
      const { api, pass } = virtualCluster({ topology: small(['a']) });
      const odd = statefulSet('default', 'odd');
      const spec = { ...odd.spec, volumeClaimTemplates: [template] };
      api.create('statefulsets', { ...odd, spec });
      api.create('statefulsets', statefulSet('default', 'good'));
      pass(60_000);
      assert.equal(podsOf(api, 'odd').length, 0);
      assert.equal(stored(api, 'statefulsets', 'default', 'good').status.readyReplicas, 1);
    });
  }
});

describe('a workload of very many pods', () => {
  const many = (replicas: number): readonly (readonly [string, KubeObject])[] => [
    ['replicasets', { ...deployment('default', 'many', { replicas }), kind: 'ReplicaSet' }],
    [
      'statefulsets',
      statefulSet('default', 'many', { replicas, spec: { podManagementPolicy: 'Parallel' } }),
    ],
    ['jobs', job('default', 'many', 1, { completions: replicas, spec: { parallelism: replicas } })],
  ];
  const counts = (resource: string, object: KubeObject): readonly number[] => {
    const { api, pass } = virtualCluster({ without: ['scheduler'] });
    api.create(resource, object);
    const stepMs = resource === 'jobs' ? 1000 : 5;
    return [1, 2, 3].map(() => {
      pass(stepMs);
      return podsOf(api, 'many').length;
    });
  };

  for (const [resource, object] of many(1200)) {
    it(`gets them in several steps: ${resource}`, () => {
      assert.deepEqual(counts(resource, object), [500, 1000, 1200]);
    });
  }

  for (const [resource, object] of many(2 ** 31 - 1)) {
    it(`does not stop all else: ${resource}`, () => {
      assert.deepEqual(counts(resource, object), [500, 1000, 1500]);
    });
  }
});
