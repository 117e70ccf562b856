import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { startDeviceCluster, writeProgress } from '../world/device-cluster.ts';
import { run } from '../world/run.ts';
import { comeAs, type TestCluster } from '../world/test-cluster.ts';

let cluster: TestCluster;
before(async () => {
  cluster = await startDeviceCluster({});
  comeAs(cluster, 'admin');
  cluster.api.create('nodes', node('n1', {}));
  cluster.api.create('devicetaintrules', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceTaintRule',
    metadata: { name: 'gpus' },
    spec: { deviceSelector: { driver: 'gpu.example.com' }, taint: { key: 'health', value: 'bad', effect: 'NoExecute' } },
  });
  writeProgress(cluster.api, 'gpus', 'PodsPendingEviction', 'x');
});
after(() => cluster.stop());

describe('try', () => {
  it('prints', async () => {
    for (const line of ['explain pod -n shop train-1', 'explain pod -n shop train-3','explain pod -n shop batch-1', 'explain pod -n shop agent-1', 'explain pod -n shop ext-1', 'explain node n1', 'pending -A', 'pending -n shop -o wide', 'status', 'explain pod -n shop train-1 -o yaml']) {
      const { code, out, err } = await run(...line.split(' '));
      console.log(`$ ${line}\n${out}${err}rc ${code}\n`);
    }
  });
});
