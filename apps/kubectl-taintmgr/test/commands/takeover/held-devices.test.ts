// takeover disable where pods are held for taints of their devices, against an API server over HTTPS.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { pod } from '@taintmgr/sim-cluster';
import { startDeviceCluster } from '../../world/device-cluster.ts';
import { run, start } from '../../world/run.ts';
import { comeAs, type TestCluster, until } from '../../world/test-cluster.ts';
import { beat, installPolicies, labelOf } from './taken-over.ts';

const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const ours = ['', 'policy', 'taintmgr.dev', 'admissionregistration.k8s.io'];
const users = {
  /** May not read devices. */
  blind: [{ ...all, apiGroups: ours }],
  /** May not change claims. */
  reader: [
    { ...all, apiGroups: ours },
    { verbs: ['get', 'list'], apiGroups: ['resource.k8s.io'], resources: ['*'] },
  ],
};

describe('takeover disable of a namespace with tainted devices', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await startDeviceCluster(users);
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    await installDefinitions(api, customResourceDefinitions());
    installPolicies(cluster);
    beat(cluster, { enabled: true, deviceTaints: true });
    const found = api.get('namespaces', '', 'shop') ?? assert.fail();
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    api.update('namespaces', { ...found, metadata: { ...found.metadata, labels } });
    api.create('devicetaintrules', {
      metadata: { name: 'bad' },
      spec: {
        deviceSelector: { pool: 'n1' },
        taint: { key: 'health', value: 'bad', effect: 'NoExecute' },
      },
    });
  });
  afterEach(() => cluster.stop());

  const isGoing = (name: string): boolean =>
    cluster.api.get('pods', 'shop', name)?.metadata.deletionTimestamp !== undefined;
  const isThere = (name: string): boolean => cluster.api.get('pods', 'shop', name) !== null;
  const touched = (): readonly string[] =>
    cluster.answers.filter((one) => one.startsWith('PATCH /apis/resource.k8s.io/'));

  it('names those that kube-controller-manager wants to delete, and no others', async () => {
    const { err } = await run('takeover', 'disable', 'shop', '--dry-run=client');
    const why = (device: string): string => `(for health=bad:NoExecute of device ${device})`;
    assert.match(
      err,
      /^namespace shop: 6 pods; what kube-controller-manager wanted to evict is ev/,
    );
    for (const [pod, device] of [
      ['train-1', 'gpu-0'],
      ['train-2', 'gpu-0'],
      ['batch-1', 'gpu-2'],
    ] as const) {
      assert.ok(err.includes(`${pod} ${why(device)}`), err);
    }
    for (const pod of ['train-3', 'agent-1', 'ext-1']) assert.ok(!err.includes(pod), err);
    assert.deepEqual(touched(), []);
  });

  it('deletes or evicts them first, where it is asked to', async () => {
    const { code, err } = await run('takeover', 'disable', 'shop', '--yes', '--held=delete');
    assert.equal(code, 0, err);
    assert.equal(labelOf(cluster, 'shop'), undefined);
    for (const pod of ['train-1', 'train-2', 'batch-1']) {
      assert.ok(isGoing(pod) || !isThere(pod), pod);
    }
    assert.ok(isThere('train-3') && !isGoing('train-3'));
    assert.deepEqual(touched(), []);
  });

  it('has kube-controller-manager try at once with the others, and changes no claim for good', async () => {
    // One pod uses a claim besides that is no cause.
    const { api } = cluster;
    const resourceClaims = ['gpu-d', 'gpu-a'].map((claim) => {
      return { name: claim, resourceClaimName: claim };
    });
    const spec = { nodeName: 'n1', resourceClaims };
    const { uid } = api.create('pods', pod('shop', 'train-9', { spec })).metadata;
    for (const name of ['gpu-a', 'gpu-d']) {
      const claim = api.get('resourceclaims', 'shop', name) ?? assert.fail();
      const reservedFor = [{ resource: 'pods', name: 'train-9', uid }];
      api.update(
        'resourceclaims',
        { ...claim, status: { ...claim.status, reservedFor } },
        'status',
      );
    }
    const running = start(['takeover', 'disable', 'shop', '--yes', '--held=leave']);
    // What that one does of which the claim was changed.
    await until('claims are changed', () => touched().length >= 2);
    for (const name of ['train-9', 'batch-1']) api.delete('pods', 'shop', name);
    const { code, err } = await running.result;
    assert.equal(code, 0, err);
    assert.match(err, /; it deletes at once for their devices: .*train-9 \(for health=bad/);
    for (const claim of ['gpu-a', 'gpu-c']) {
      const path = `/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims/${claim}`;
      assert.equal(touched().filter((one) => one === `PATCH ${path} 200`).length, 2);
      const { metadata } = cluster.api.get('resourceclaims', 'shop', claim) ?? assert.fail();
      assert.deepEqual(metadata.annotations ?? {}, {});
    }
    assert.ok(touched().every((one) => !one.includes('gpu-b') && !one.includes('gpu-d')));
  });

  it('says that they go later where claims may not be changed', async () => {
    comeAs(cluster, 'reader');
    const { code, err } = await run('takeover', 'disable', 'shop', '--yes', '--held=leave');
    assert.equal(code, 0, err);
    assert.match(
      err,
      /Warning: pods of namespace shop that kube-controller-manager was refused for/,
    );
    assert.equal(labelOf(cluster, 'shop'), undefined);
  });

  it('does not know where devices may not be read', async () => {
    comeAs(cluster, 'blind');
    const { code, err } = await run('takeover', 'disable', 'shop', '--yes');
    assert.equal(code, 0, err);
    assert.match(err, /; for taints of devices it may want to delete some, which may not be read/);
    assert.ok(isThere('train-1') && !isGoing('train-1'));
  });

  it('asks for no devices where they are not held', async () => {
    beat(cluster, { enabled: true });
    const { err } = await run('takeover', 'disable', 'shop', '--dry-run=client');
    assert.match(err, /none of which kube-controller-manager wanted to evict$/m);
    assert.ok(cluster.answers.every((one) => !one.includes('resource.k8s.io')));
  });
});
