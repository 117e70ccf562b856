import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

// Pods that go for taints of their devices, in a simulation of a cluster as a snapshot has it.

const files = temporaryFiles();
const group = 'resource.k8s.io/v1';
const takenAt = '2026-11-29T12:00:00Z';
const taintedAt = '2026-11-29T11:59:30Z';

const owned = (kind: string, name: string): object => ({
  ownerReferences: [
    { apiVersion: 'apps/v1', kind, name, uid: `${kind}-${name}`, controller: true },
  ],
});
const template = {
  metadata: { labels: { app: 'train' } },
  spec: {
    containers: [{ name: 'c', image: 'x', resources: { claims: [{ name: 'gpu' }] } }],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-a' }],
  },
};
const workload = { replicas: 1, selector: { matchLabels: { app: 'train' } }, template };
const toleration = {
  ...{ key: 'health', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
};
const request = { name: 'r', exactly: { deviceClassName: 'gpu', tolerations: [toleration] } };
const pool = { name: 'n1', generation: 1, resourceSliceCount: 1 };
const device = { driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' };

function snapshot(progress: object[]): string {
  const shop = { namespace: 'shop' };
  const items = [
    {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} },
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: takenAt }],
      },
    },
    {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: { name: 'n1', namespace: 'kube-node-lease' },
      spec: { holderIdentity: 'n1', renewTime: takenAt.replace('Z', '.000000Z') },
    },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' }, spec: {} },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { ...shop, name: 'train', uid: 'Deployment-train' },
      spec: workload,
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
      metadata: {
        ...{ ...shop, name: 'train-1', uid: 'ReplicaSet-train-1', labels: { app: 'train' } },
        ...owned('Deployment', 'train'),
      },
      spec: workload,
    },
    {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ ...shop, name: 'train-1-a', uid: 'pod-a', labels: { app: 'train' } },
        ...{ creationTimestamp: '2026-11-29T11:00:00Z', ...owned('ReplicaSet', 'train-1') },
      },
      spec: { ...template.spec, nodeName: 'n1' },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-11-29T11:00:05Z' }],
      },
    },
    { apiVersion: group, kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} },
    {
      ...{ apiVersion: group, kind: 'ResourceSlice', metadata: { name: 'n1-gpu' } },
      spec: { driver: device.driver, pool, nodeName: 'n1', devices: [{ name: 'gpu-0' }] },
    },
    {
      ...{ apiVersion: group, kind: 'ResourceClaim', metadata: { ...shop, name: 'gpu-a' } },
      spec: { devices: { requests: [request] } },
      status: {
        allocation: {
          devices: { results: [{ request: 'r', ...device, tolerations: [toleration] }] },
        },
        reservedFor: [{ resource: 'pods', name: 'train-1-a', uid: 'pod-a' }],
      },
    },
    {
      ...{
        apiVersion: group,
        kind: 'DeviceTaintRule',
        metadata: { name: 'ecc', generation: 1, creationTimestamp: taintedAt },
      },
      spec: {
        deviceSelector: { driver: device.driver },
        taint: { key: 'health', value: 'bad', effect: 'NoExecute', timeAdded: taintedAt },
      },
      status: { conditions: progress },
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata: { takenAt }, items });
}

const pending = {
  ...{ type: 'EvictionInProgress', status: 'True', reason: 'PodsPendingEviction' },
  ...{ message: '1 pod needs to be evicted in 1 namespace.', observedGeneration: 1 },
  lastTransitionTime: taintedAt,
};

interface Eviction {
  readonly pod: string;
  readonly at: number;
  readonly because: readonly string[];
}

/** The evictions under kube-controller-manager's rules, and under ours. */
async function evictions(progress: object[]): Promise<readonly (readonly Eviction[])[]> {
  const file = files.write('cluster.json', snapshot(progress));
  const line = ['simulate', '-f', file, '--until', '40s', '--compare', '-o', 'json'];
  const { code, out, err } = await run(...line);
  assert.equal(code, 0, err);
  const { runs }: { readonly runs: readonly { readonly evictions: readonly Eviction[] }[] } =
    JSON.parse(out);
  return runs.map((one) => one.evictions);
}

describe('taints of devices in a simulation', () => {
  it('evict pods when their claims tolerate them no longer, and what replaces these at once', async () => {
    const runs = await evictions([pending]);
    assert.equal(runs.length, 2);
    for (const [first, ...others] of runs) {
      assert.equal(first?.pod, 'train-1-a');
      assert.ok(Math.abs((first?.at ?? 0) - 30) < 0.1, String(first?.at));
      assert.deepEqual(first?.because, [
        'device gpu.example.com/n1/gpu-0 of claim gpu-a is tainted health=bad:NoExecute by DeviceTaintRule ecc since -30s; the claim tolerates it for 1m',
      ]);
      assert.ok(
        others.length > 1,
        'a claim that tolerates the taint for a while is allocated again',
      );
    }
  });

  it('evict nobody where kube-controller-manager has written a status of no rule', async () => {
    assert.deepEqual(await evictions([]), [[], []]);
  });
});
