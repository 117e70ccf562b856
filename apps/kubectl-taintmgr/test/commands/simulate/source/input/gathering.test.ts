import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gather } from '../../../../../src/commands/simulate/source/input/gathering.ts';

it('more objects than any cluster has are not kept', () => {
  const objects = Array.from({ length: 600_001 }, (_, at) => ({
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' },
    metadata: { name: `p${at}` },
  }));
  const why = /FILE:0:0: more than 600000 objects, and Kubernetes is made for clusters of so many/;
  assert.throws(() => gather('FILE', objects), why);
  assert.equal(gather('FILE', objects.slice(1)).objects.length, 600_000);
});
