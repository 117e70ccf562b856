import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { namesFrom } from '../../src/commands/completion.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// What a shell is offered goes to a terminal as it is: nothing in it may be anybody's orders.

const hostile = 'drain-\u001b[2J\u001b]0;owned\u0007';

describe('names that a shell is offered', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
  });
  after(() => cluster.stop());

  it('are of drains only as drains name themselves', async () => {
    const mark = { taint: 'a:NoExecute', tainted: true, cordoned: true };
    const ids = ['drain-20260101-000000-7f3a', hostile, '$(reboot)'];
    const annotation = JSON.stringify(ids.map((id) => ({ id, ...mark })));
    const annotations = { 'taintmgr.dev/drain': annotation };
    const plain = node('n1');
    const metadata = { ...plain.metadata, annotations };
    cluster.api.create('nodes', { ...plain, metadata });
    const names = await namesFrom('undoable', { kubeconfig: cluster.kubeconfig } as never);
    assert.deepEqual(names, ['drain-20260101-000000-7f3a']);
  });

  it('are of devices, and of rules those that can be undone', async () => {
    const { api } = cluster;
    api.create('resourceslices', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceSlice',
      metadata: { name: 'n1-gpu' },
      spec: {
        ...{ driver: 'gpu.example.com', nodeName: 'n1', devices: [{ name: 'gpu-0' }] },
        pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      },
    });
    for (const [name, annotations] of [
      ['ours', { 'taintmgr.dev/taint-device': 'made' }],
      ['theirs', {}],
    ] as const) {
      api.create('devicetaintrules', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceTaintRule',
        metadata: { name, annotations },
        spec: { deviceSelector: { pool: 'n1' }, taint: { key: 'a', effect: 'None' } },
      });
    }
    const flags = { kubeconfig: cluster.kubeconfig } as never;
    assert.deepEqual(await namesFrom('devices', flags), ['gpu.example.com/n1/gpu-0']);
    assert.deepEqual(await namesFrom('device-rules', flags), ['ours', 'theirs']);
    assert.deepEqual(await namesFrom('device-targets', flags), [
      ...['devicetaintrule/ours', 'devicetaintrule/theirs', 'gpu.example.com/n1/gpu-0'],
    ]);
    assert.deepEqual(await namesFrom('undoable', flags), [
      ...['devicetaintrule/ours', 'drain-20260101-000000-7f3a'],
    ]);
  });

  it('are of contexts only what steers no terminal', async () => {
    const kubeconfig = join(cluster.directory, 'contexts');
    const contexts = ['prod', hostile].map((name) => ({ name }));
    writeFileSync(kubeconfig, JSON.stringify({ contexts }));
    assert.deepEqual(await namesFrom('contexts', { kubeconfig } as never), ['prod']);
  });
});
