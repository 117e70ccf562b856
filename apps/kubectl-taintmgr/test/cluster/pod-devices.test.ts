import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { node, pod } from '@taintmgr/sim-cluster';
import { startDeviceCluster, writeProgress } from '../world/device-cluster.ts';
import { run } from '../world/run.ts';
import { comeAs, type TestCluster } from '../world/test-cluster.ts';

// explain, pending and status where devices are tainted, as somebody on call reads them.

const list = ['get', 'list'];
const core = { verbs: list, apiGroups: [''], resources: ['pods', 'nodes'] };
/** What the role view has, and no more. */
const claims = { verbs: list, apiGroups: ['resource.k8s.io'], resources: ['resourceclaims'] };

const driver = 'gpu.example.com';

let cluster: TestCluster;
before(async () => {
  cluster = await startDeviceCluster({ viewer: [core, claims], stranger: [core] });
  const { api } = cluster;
  api.create('nodes', node('n1', {}));
  api.create('pods', managerPod());
  taint('gpu-0-ecc', 'gpu-0', 'NoExecute');
  taint('gpu-1-ecc', 'gpu-1', 'NoExecute');
  taint('gpu-2-ecc', 'gpu-2', 'NoExecute');
  taint('gpu-4-ecc', 'gpu-4', 'NoExecute');
  taint('preview', 'gpu-3', 'None');
  writeProgress(api, 'gpu-0-ecc', 'PodsPendingEviction', '2 pods need to be evicted.');
});
after(() => cluster.stop());

function taint(name: string, device: string, effect: string): void {
  cluster.api.create('devicetaintrules', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceTaintRule',
    metadata: { name },
    spec: { deviceSelector: { driver, device }, taint: { key: 'health', value: 'bad', effect } },
  });
}

function managerPod(): ReturnType<typeof pod> {
  const name = 'kube-controller-manager';
  const command = [name, '--feature-gates=DRADeviceTaintRules=true'];
  const containers = [{ name, image: name, command }];
  const made = pod('kube-system', name, { spec: { containers } });
  return { ...made, metadata: { ...made.metadata, labels: { component: name } } };
}

/** What is printed, without times that change from run to run. */
async function answer(line: string, user = 'admin'): Promise<string> {
  comeAs(cluster, user);
  const { code, out, err } = await run(...line.split(' '));
  assert.equal(code, 0, err);
  return `${out}${err}`
    .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '<time>')
    .replace(/\b\d+m?s ago/g, '<n>s ago')
    .replace(/,? overdue by \d+s/g, ' now')
    .replace(/23h59m/g, '1d')
    .replace(/ {2,}/g, '  ');
}

const forbidden = (resource: string): string =>
  `Warning: not everything could be read: ${resource}.resource.k8s.io is forbidden: User "viewer" cannot list resource "${resource}" in API group "resource.k8s.io" at the cluster scope\n`;
const hidden = ['resourceslices', 'devicetaintrules'].map(forbidden);

describe('explain', () => {
  it('names the device, the rule and what can be done', async () => {
    assert.equal(
      await answer('explain pod -n shop train-1'),
      `Name:  train-1
Namespace:  shop
Decision:  Evict now (<time>)
Because:  no toleration for health=bad:NoExecute of device gpu.example.com/n1/gpu-0 (claim gpu-a, tainted by DeviceTaintRule gpu-0-ecc)
Evicted by:  kube-controller-manager
Node:  n1 (Ready: True)
Owner:  <none>, not recreated

TAINT  COUNTS FROM  TOLERATION  DEADLINE
health=bad:NoExecute on device gpu-0  <n>s ago (timeAdded)  <none>  now  decides
Warning: 1 pod without a controller (shop/train-1): it is not recreated
Note: tolerations of a claim cannot be changed once it is allocated; to keep the pods, take DeviceTaintRule gpu-0-ecc away (kubectl delete devicetaintrule gpu-0-ecc; one of taint-device: kubectl taintmgr undo devicetaintrule/gpu-0-ecc) or give them time (kubectl taintmgr taint-device devicetaintrule/gpu-0-ecc --snooze 30m)
`,
    );
  });

  it('says of a toleration without effect that it does not count', async () => {
    assert.match(
      await answer('explain pod -n shop batch-1'),
      /\nDevices: +device gpu.example.com\/n1\/gpu-2 of claim gpu-c is tainted .*; the claim's toleration of health names no effect; only NoExecute counts here/,
    );
  });

  it('says why a pod stays, and that a rule is a preview', async () => {
    assert.equal(
      await answer('explain pod -n shop agent-1'),
      `Name:  agent-1
Namespace:  shop
Decision:  Keep
Because:  its node has no NoExecute taint
Devices:  rule preview taints its device gpu.example.com/n1/gpu-3 health=bad:None; NoExecute would not evict it either
Node:  n1 (Ready: True)
Owner:  <none>, not recreated
`,
    );
  });

  it('says that a taint counts from a time that is yet to come', async () => {
    const taint = { key: 'late', effect: 'NoExecute', timeAdded: '2999-01-01T00:00:00Z' };
    cluster.api.create('devicetaintrules', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceTaintRule',
      metadata: { name: 'late' },
      spec: { deviceSelector: { driver, device: 'gpu-0' }, taint },
    });
    const said = await answer('explain pod -n shop train-1');
    cluster.api.delete('devicetaintrules', '', 'late');
    assert.match(said, /\nlate:NoExecute on device gpu-0 {2}in \d+d\S* \(timeAdded\) {2}/);
  });

  it('says that kube-controller-manager overlooks extended resources', async () => {
    assert.match(
      await answer('explain pod -n shop ext-1'),
      /\nDecision: +Keep\n.*\nDevices: +claim gpu-e was made for an extended resource: /,
    );
  });

  it('says of a pod that has finished and uses its claim no more that it has', async () => {
    const resourceClaims = [{ name: 'gpu', resourceClaimName: 'gpu-a' }];
    const { api } = cluster;
    const made = api.create(
      'pods',
      pod('shop', 'done-1', { spec: { nodeName: 'n1', resourceClaims } }),
    );
    api.update('pods', { ...made, status: { ...made.status, phase: 'Succeeded' } }, 'status');
    const said = await answer('explain pod -n shop done-1');
    api.delete('pods', 'shop', 'done-1', { gracePeriodSeconds: 0 });
    assert.match(
      said,
      /\nDecision: {2}Keep\nBecause: {2}already finished \(Succeeded\)\nDevices: {2}claim gpu-a is not reserved for it/,
    );
  });

  it('does not say Keep to somebody who may not see the taints', async () => {
    const said = await answer('explain pod -n shop train-1', 'viewer');
    assert.match(said, /\nDecision: +Unknown\nBecause: +unknown: no permission to read resource/);
    for (const line of hidden) assert.ok(said.includes(line), said);
    const node = await answer('explain node n1', 'viewer');
    assert.match(node, /\nPods: {2}0 of 6 to evict, 5 unknown, 1 to keep\n/);
  });

  it('does not say that rules evict where nobody was seen to heed one, nor that they do not', async () => {
    const rule = cluster.api.get('devicetaintrules', '', 'gpu-0-ecc') ?? assert.fail();
    cluster.api.update('devicetaintrules', { ...rule, status: {} }, 'status');
    const said = await answer('explain pod -n shop train-1');
    const { out } = await run('explain', 'pod', '-n', 'shop', 'train-1', '-o', 'json');
    writeProgress(cluster.api, 'gpu-0-ecc', 'PodsPendingEviction', '2 pods need to be evicted.');
    assert.match(
      said,
      /\nDecision: {2}Unknown\nBecause: {2}unknown: DeviceTaintRule gpu-0-ecc would evict it, and kube-controller-manager has written no status of any rule/,
    );
    assert.doesNotMatch(said, /its devices have no taint/);
    assert.equal(JSON.parse(out).decision, 'Unknown');
  });

  it('takes the status of a rule for proof that kube-controller-manager evicts for devices', async () => {
    cluster.api.delete('pods', 'kube-system', 'kube-controller-manager');
    const said = await answer('explain pod -n shop train-1');
    cluster.api.create('pods', managerPod());
    assert.match(said, /\nEvicted by: {2}kube-controller-manager\n/);
    assert.doesNotMatch(said, /nothing shows that/);
  });

  it('has both causes in one answer, the earlier first', async () => {
    const known = cluster.api.get('nodes', '', 'n1') ?? assert.fail();
    const taints = [{ key: 'maint', effect: 'NoExecute' }];
    cluster.api.update('nodes', { ...known, spec: { taints } });
    const said = await answer('explain pod -n shop train-3');
    const now = cluster.api.get('nodes', '', 'n1') ?? assert.fail();
    cluster.api.update('nodes', { ...now, spec: {} });
    assert.match(
      said,
      /\nBecause: {2}no toleration for maint:NoExecute\n(?:.+\n)+\n.*\nmaint:NoExecute .* now {2}decides\nhealth=bad:NoExecute on device gpu-1 .* 1d\n/,
    );
    assert.match(said, /take DeviceTaintRule gpu-1-ecc away/);
  });
});

describe('pending', () => {
  it('lists node and device evictions together, those far away too', async () => {
    assert.equal(
      await answer('pending -n shop').then((text) => text.split('Warning')[0]),
      `NAMESPACE  POD  NODE  IN  TAINT  BLOCKED BY
shop  batch-1  n1  now  health=bad:NoExecute on device gpu-2  <none>
shop  train-1  n1  now  health=bad:NoExecute on device gpu-0  <none>
shop  train-2  n1  now  health=bad:NoExecute on device gpu-0  <none>
shop  train-3  n1  1d  health=bad:NoExecute on device gpu-1  <none>
`,
    );
  });

  it('lists pods whose taints nobody may see', async () => {
    const said = await answer('pending -n shop', 'viewer');
    assert.equal(
      said.split('Warning')[0],
      `NAMESPACE  POD  NODE  IN  TAINT  BLOCKED BY
shop  agent-1  n1  unknown  unknown  <none>
shop  batch-1  n1  unknown  unknown  <none>
shop  train-1  n1  unknown  unknown  <none>
shop  train-2  n1  unknown  unknown  <none>
shop  train-3  n1  unknown  unknown  <none>
`,
    );
    assert.equal(said.split('resourceslices.resource.k8s.io is forbidden').length, 2);
    const bare = await answer('pending -n shop', 'stranger');
    assert.equal(bare.split('Warning')[0], said.split('Warning')[0]);
  });
});

describe('status', () => {
  it('counts pods of which nobody can tell, and says no time that rules may not have', async () => {
    assert.match(
      await answer('status', 'viewer'),
      /^0 tainted nodes, 0 evictions pending, 5 unknown\n/,
    );
    const rule = cluster.api.get('devicetaintrules', '', 'gpu-0-ecc') ?? assert.fail();
    cluster.api.update('devicetaintrules', { ...rule, status: {} }, 'status');
    const said = await answer('status');
    writeProgress(cluster.api, 'gpu-0-ecc', 'PodsPendingEviction', '2 pods need to be evicted.');
    assert.match(said, /\ngpu-0-ecc .* 1 {2}2 {2}unknown {2}-\n/);
    assert.match(said, /^0 tainted nodes, 0 evictions pending, 4 unknown\n/);
  });

  it('lists the rules with whom they reach', async () => {
    assert.equal(
      await answer('status').then((text) => text.split('\n\n')[2]),
      `DEVICETAINTRULE  TAINT  SELECTS  DEVICES  PODS  NEXT  UPSTREAM SAYS
gpu-0-ecc  health=bad:NoExecute  driver gpu.example.com, device gpu-0  1  2  now  PodsPendingEviction
gpu-1-ecc  health=bad:NoExecute  driver gpu.example.com, device gpu-1  1  1  in 1d  -
gpu-2-ecc  health=bad:NoExecute  driver gpu.example.com, device gpu-2  1  1  now  -
gpu-4-ecc  health=bad:NoExecute  driver gpu.example.com, device gpu-4  1  0  -  -
preview  health=bad:None  driver gpu.example.com, device gpu-3  1  0  -  -`,
    );
  });
});

/** taintmgr-controller leads with --takeover, and decides about devices of namespaces that are taken over. */
async function takeOver({ api }: TestCluster): Promise<void> {
  await installDefinitions(api, customResourceDefinitions());
  const namespace = 'taintmgr-system';
  const [holder, time] = ['taintmgr-controller-0_1', new Date().toISOString().replace('Z', '000Z')];
  const lease = { holderIdentity: holder, leaseDurationSeconds: 3600, renewTime: time };
  api.create('namespaces', { metadata: { name: namespace } });
  api.create('leases', {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    ...{ metadata: { namespace, name: 'taintmgr-controller' }, spec: lease },
  });
  const made = api.create('taintmanagers.taintmgr.dev', {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' },
    metadata: { name: 'taintmgr' },
  });
  const status = {
    ...{ leader: holder, renewTime: time, startedAt: time },
    settings: {
      ...{ mode: 'evict', takeover: 'true' },
      controllers: 'taint-eviction-controller,device-taint-eviction-controller',
    },
    controllers: ['taint-eviction-controller', 'device-taint-eviction-controller'],
    takeover: { enabled: true, deviceTaints: true },
  };
  api.update('taintmanagers.taintmgr.dev', { ...made, status }, 'status');
  const shop = api.get('namespaces', '', 'shop') ?? assert.fail();
  const labels = { 'taintmgr.dev/takeover': 'enabled' };
  api.update('namespaces', { ...shop, metadata: { ...shop.metadata, labels } });
}

describe('of pods that taintmgr takes over', () => {
  before(() => takeOver(cluster));

  it('explain names the budget that holds one, and who evicts it', async () => {
    const held = cluster.api.get('pods', 'shop', 'train-1') ?? assert.fail();
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    cluster.api.update('pods', { ...held, status: { ...held.status, ...status } }, 'status');
    assert.equal(
      await answer('explain pod -n shop train-1').then((text) => text.split('Warning')[0]),
      `Name:  train-1
Namespace:  shop
Decision:  Evict now (<time>)
Because:  no toleration for health=bad:NoExecute of device gpu.example.com/n1/gpu-0 (claim gpu-a, tainted by DeviceTaintRule gpu-0-ecc)
Blocked by:  PDB train (needs action): The disruption budget train needs 3 healthy pods and has 3 currently
Evicted by:  taintmgr-controller
Node:  n1 (Ready: True)
Owner:  <none>, not recreated

TAINT  COUNTS FROM  TOLERATION  DEADLINE
health=bad:NoExecute on device gpu-0  <n>s ago (timeAdded)  <none>  now  decides
`,
    );
  });

  it('explain says what taintmgr does with tolerations without effect, and extended resources', async () => {
    const kept = await answer('explain pod -n shop batch-1');
    assert.match(
      kept,
      /\nDecision: {2}Keep\nBecause: {2}tolerates health=bad:NoExecute of device .* without limit\nNode: /,
    );
    const gone = await answer('explain pod -n shop ext-1');
    assert.match(gone, /\nDecision: {2}Evict now.*\n.*\nEvicted by: {2}taintmgr-controller\n/);
    assert.doesNotMatch(gone, /Devices:/);
  });
});
