import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cluster, VirtualClock } from '@taintmgr/sim-cluster';
import { unknownsIn } from '../../../../src/commands/simulate/source/unknowns.ts';

const group = 'resource.k8s.io/v1';
const cel = { expression: 'device.driver == "gpu.example.com"' };
const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] };
const pool = { name: 'n1', generation: 1, resourceSliceCount: 1 };

const shop = (name: string): object => ({ name, namespace: 'shop' });
const pod = (name: string, claim: string): object => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: shop(name) },
  spec: {
    containers: [{ name: 'c', image: 'x' }],
    resourceClaims: [{ name: 'gpu', resourceClaimName: claim }],
  },
});

describe('what is not known of the workloads of a snapshot', () => {
  it('is nothing of a pod whose claim, class and devices are in it', () => {
    const { api } = new Cluster({
      clock: new VirtualClock(Date.parse('2026-01-01T00:00:00Z')),
      seed: 1,
      snapshot: [
        ...[pod('known', 'there'), pod('unknown', 'elsewhere')],
        { apiVersion: group, kind: 'ResourceClaim', metadata: shop('there'), spec: { devices } },
        {
          ...{ apiVersion: group, kind: 'DeviceClass', metadata: { name: 'gpu' } },
          spec: { selectors: [{ cel }] },
        },
        {
          ...{ apiVersion: 'resource.k8s.io/v1beta2', kind: 'ResourceSlice' },
          metadata: { name: 'n1' },
          spec: { driver: 'gpu.example.com', pool, nodeName: 'n1', devices: [{ name: 'g0' }] },
        },
      ],
    });
    assert.deepEqual(
      [...unknownsIn(api)],
      [['shop/unknown', ['its pods claim devices: ResourceClaim elsewhere is not there']]],
    );
  });
});
