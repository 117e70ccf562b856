// Workloads that are accepted and that nobody can carry out as they are.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statefulSet } from '../../src/builders.ts';
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
