import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type EmbeddedCluster, startEmbedded } from '@taintmgr/api-server';
import { type KubeObject, node, pod, toleration } from '@taintmgr/sim-cluster';
import { UpstreamManager } from '../../src/client/upstream-manager.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';

// kube-controller-manager's taint eviction as a program of its own beside an embedded cluster, over
// HTTPS and in real time; the machine itself is held against recordings by packages/core.

/** A node with pods that tolerate the taint `k` not at all, for a second, and for ever. */
async function started(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({ without: ['scheduler'] });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  api.create('nodes', node('n1'));
  for (const [name, tolerations] of [
    ['for-a-second', [{ ...toleration('k:NoExecute', 1) }]],
    ['at-once', []],
    ['for-ever', [{ ...toleration('k:NoExecute') }]],
  ] as const) {
    api.create('pods', pod('default', name, { spec: { nodeName: 'n1', tolerations } }));
  }
  return embedded;
}

async function managerOf(
  t: TestContext,
  { kubeconfig }: EmbeddedCluster,
  options: ConstructorParameters<typeof UpstreamManager>[1] = {},
): Promise<UpstreamManager> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const manager = new UpstreamManager(access, options);
  t.after(() => manager.stop());
  return manager;
}

function taintNode({ cluster: { api } }: EmbeddedCluster): void {
  const found = api.get('nodes', '', 'n1') ?? assert.fail();
  const taints = [{ key: 'k', effect: 'NoExecute' }];
  api.update('nodes', { ...found, spec: { ...found.spec, taints } });
}

/** Resolves with the first object of these that is as wanted, now or when it changes. */
function seen(
  { cluster: { api } }: EmbeddedCluster,
  resource: string,
  isWanted: (object: KubeObject) => boolean,
): Promise<KubeObject> {
  const found = api.list(resource).find(isWanted);
  if (found) return Promise.resolve(found);
  return new Promise((resolve) => {
    const stop = api.subscribe(
      ({ object }) => {
        if (!isWanted(object)) return;
        stop();
        resolve(object);
      },
      new Set([resource]),
    );
  });
}

const isLeaving =
  (name: string) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.name === name && metadata.deletionTimestamp !== undefined;

for (const lease of [true, false]) {
  it(`evicts pods when their tolerations end, ${lease ? 'by its lease' : 'without a lease'}`, async (t) => {
    const embedded = await started(t);
    const { api } = embedded.cluster;
    const manager = await managerOf(t, embedded, { lease });
    manager.start();
    const since = performance.now();
    taintNode(embedded);
    for (const name of ['at-once', 'for-a-second']) {
      const { status } = await seen(embedded, 'pods', isLeaving(name));
      assert.equal(status.conditions.at(-1).reason, 'DeletionByTaintManager');
    }
    // A timer of Node may fire a little early.
    assert.ok(performance.now() - since > 980);
    const { message, source } = await seen(embedded, 'events', ({ involvedObject }) => {
      return involvedObject?.name === 'at-once';
    });
    assert.equal(message, 'Marking for deletion Pod default/at-once');
    assert.equal(source.component, 'taint-eviction-controller');
    const stays = api.get('pods', 'default', 'for-ever');
    assert.equal(stays?.metadata.deletionTimestamp, undefined);
    const held = api.get('leases', 'kube-system', 'kube-controller-manager')?.spec.holderIdentity;
    assert.equal(held, lease ? 'control-plane_1' : undefined);
  });
}

it('gives its lease back when it stops, and takes it anew under another name', async (t) => {
  const embedded = await started(t);
  const manager = await managerOf(t, embedded);
  const holder = (name: string): Promise<KubeObject> =>
    seen(embedded, 'leases', ({ metadata, spec }) => {
      return metadata.name === 'kube-controller-manager' && spec.holderIdentity === name;
    });
  manager.start();
  await holder('control-plane_1');
  await manager.stop();
  await holder('');
  taintNode(embedded);
  manager.start();
  await holder('control-plane_2');
  await seen(embedded, 'pods', isLeaving('at-once'));
});

/** A pod on a device that its driver taints for it, and one on a device that a rule taints. */
function claimDevices({ cluster: { api } }: EmbeddedCluster): void {
  for (const [index, name] of ['by-slice', 'by-rule'].entries()) {
    const claims = [{ name: 'c0', resourceClaimName: name }];
    const made = api.create(
      'pods',
      pod('default', name, { spec: { nodeName: 'n1', resourceClaims: claims } }),
    );
    const requests = [{ name: 'r', exactly: { deviceClassName: 'gpu' } }];
    const metadata = { name, namespace: 'default' };
    const claim = api.create('resourceclaims', { metadata, spec: { devices: { requests } } });
    const device = { request: 'r', driver: 'd.example.com', pool: 'n1', device: `gpu-${index}` };
    const status = {
      allocation: { devices: { results: [device] } },
      reservedFor: [{ resource: 'pods', name, uid: made.metadata.uid }],
    };
    api.update('resourceclaims', { ...claim, status }, 'status');
  }
}

function taintDevices({ cluster: { api } }: EmbeddedCluster): void {
  const taint = { key: 'health', effect: 'NoExecute' };
  const deviceSelector = { device: 'gpu-1' };
  api.create('devicetaintrules', { metadata: { name: 'ecc' }, spec: { deviceSelector, taint } });
  const devices = [{ name: 'gpu-0', taints: [taint] }, { name: 'gpu-1' }];
  const pool = { name: 'n1', generation: 1, resourceSliceCount: 1 };
  const spec = { driver: 'd.example.com', nodeName: 'n1', pool, devices };
  api.create('resourceslices', { metadata: { name: 's1' }, spec });
}

for (const rules of [true, false]) {
  it(`evicts for taints of devices, ${rules ? 'by rules too' : 'but not by rules'}, where it is to`, async (t) => {
    const embedded = await started(t);
    const { api } = embedded.cluster;
    claimDevices(embedded);
    const manager = await managerOf(t, embedded, { devices: { rules } });
    manager.start();
    taintDevices(embedded);
    const names = rules ? ['by-slice', 'by-rule'] : ['by-slice'];
    for (const name of names) {
      const { status } = await seen(embedded, 'pods', isLeaving(name));
      assert.equal(status.conditions.at(-1).reason, 'DeletionByDeviceTaintManager');
    }
    const { source } = await seen(embedded, 'events', ({ involvedObject }) => {
      return involvedObject?.name === 'by-slice';
    });
    assert.equal(source.component, 'device-taint-eviction-controller');
    const written = api.get('devicetaintrules', '', 'ecc')?.status?.conditions?.length ?? 0;
    assert.equal(written > 0, rules);
    const other = api.get('pods', 'default', 'by-rule')?.metadata.deletionTimestamp;
    assert.equal(other !== undefined, rules);
  });
}
