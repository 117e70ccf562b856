import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { temporaryFiles } from '../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** A pod on gpu-0, which it tolerates health of for 30 s; a rule taints it for that, with this status. */
function snapshot(conditions: readonly object[] | null): string {
  const driver = 'gpu.example.com';
  const tolerations = [
    { key: 'health', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
  ];
  const allocated = { request: 'r', driver, pool: 'n1', device: 'gpu-0', tolerations };
  const train = pod('shop', 'train', {
    spec: { nodeName: 'n1', resourceClaims: [{ name: 'gpu', resourceClaimName: 'train' }] },
  });
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const objects = [
    node('n1'),
    {
      ...train,
      metadata: { ...train.metadata, uid: 'train', creationTimestamp: '2026-01-01T01:00:00Z' },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    },
    { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} },
    {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name: 's1' } },
      spec: {
        ...{ driver, nodeName: 'n1', devices: [{ name: 'gpu-0' }] },
        pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      },
    },
    {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim' },
      metadata: { name: 'train', namespace: 'shop', uid: 'claim' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } },
      status: {
        allocation: { devices: { results: [allocated] } },
        reservedFor: [{ resource: 'pods', name: 'train', uid: 'train' }],
      },
    },
    {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'DeviceTaintRule' },
      metadata: { name: 'ecc', ...(conditions && { uid: 'rule', creationTimestamp }) },
      spec: {
        deviceSelector: { device: 'gpu-0' },
        taint: { key: 'health', value: 'bad', effect: 'NoExecute' },
      },
      ...(conditions && { status: { conditions } }),
    },
  ];
  return file('devices.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
}

interface Document {
  readonly runs: readonly {
    readonly evictions: readonly { readonly at: number; readonly because: readonly string[] }[];
  }[];
}

async function evictions(source: string): Promise<Document['runs'][0]['evictions']> {
  const line = ['simulate', '-f', source, '--until', '2m', '--compare', '-o', 'json'];
  const { out } = await run(...line);
  const [theirs, ours] = (JSON.parse(out) as Document).runs;
  // Where nothing says that taintmgr decides about devices, kube-controller-manager goes on beside it.
  assert.deepEqual(ours?.evictions, theirs?.evictions);
  return theirs?.evictions ?? assert.fail(out);
}

describe('simulate with taints of devices', () => {
  it('evicts for them as kube-controller-manager does, and says why', async () => {
    const [eviction, ...others] = await evictions(snapshot(null));
    assert.deepEqual(others, []);
    assert.equal(eviction?.at, 30);
    assert.match(
      eviction?.because.join() ?? '',
      /^device gpu.example.com\/n1\/gpu-0 of claim train is tainted health=bad:NoExecute by DeviceTaintRule ecc .*for 30s$/,
    );
  });

  it('leaves rules alone that had no effect where the snapshot came from', async () => {
    assert.deepEqual(await evictions(snapshot([])), []);
    const written = { type: 'EvictionInProgress', status: 'False', reason: 'NotStarted' };
    const times = { lastTransitionTime: '2026-01-01T00:00:01Z', message: '' };
    assert.equal((await evictions(snapshot([{ ...written, ...times }]))).length, 1);
  });
});
