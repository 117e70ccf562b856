import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { customResourceDefinitions } from '@taintmgr/core/policy';
import {
  type EmbeddedCluster,
  evictionDefinition,
  evictionRequestDefinition,
  installDefinitions,
  type KubeObject,
  namespace,
  node,
  pod,
  type Right,
  serviceAccountUser,
  startEmbedded,
  toleration,
  type User,
} from '@taintmgr/sim-cluster';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { readManifests } from './manifests.ts';
import { runSet, runSingle, when } from './single-replica.ts';

// Each way to run it that deploy/ has, with the rights that deploy/ gives: nothing it does is
// forbidden, and it makes use of every right.

const account = serviceAccountUser('taintmgr-system', 'taintmgr-controller');
const prometheus: User = { name: 'prometheus', groups: ['monitoring'], rules: [] };
const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
const past = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
const rbac: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};

async function startCluster(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({
    topology: none,
    without: ['nodeLifecycleStandIn', 'workloads', 'scheduler', 'disruption'],
    timing: { heartbeatMs: 300, startupMs: [10, 20], podStartMs: [10, 20], podStopMs: [10, 20] },
    users: new Map([
      ['of-controller', account],
      ['of-prometheus', prometheus],
    ]),
  });
  t.after(() => embedded.stop());
  await installDefinitions(embedded.cluster.api, customResourceDefinitions());
  for (const name of ['shop', 'taintmgr-system']) {
    embedded.cluster.api.create('namespaces', namespace(name));
  }
  return embedded;
}

function grant({ cluster }: EmbeddedCluster, folders: readonly string[]): void {
  for (const object of readManifests(...folders).objects) {
    const resource = rbac[object.kind ?? ''];
    if (resource !== undefined) cluster.api.create(resource, object);
  }
  cluster.api.create('clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'metrics' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'taintmgr-metrics-reader',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'monitoring' }],
  });
}

const overdueLabels = { app: 'overdue' };

/** Nodes, and a pod on each: one that is long due, one that will be, one whose node will be lost. */
async function populate({ cluster }: EmbeddedCluster): Promise<void> {
  const { api } = cluster;
  const defaulted = api.create('pods', pod('shop', 'overdue', { spec: { nodeName: 'a-1' } }));
  api.delete('pods', 'shop', 'overdue', { gracePeriodSeconds: 0 });
  api.load([boundLongAgo(defaulted)]);
  const nodes = ['a-2', 'a-3'];
  for (const name of nodes) cluster.addNode({ name, region: 'r', zone: 'a' });
  const isReady = (name: string): boolean => {
    const conditions: readonly { type: string; status: string }[] =
      api.get('nodes', '', name)?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  };
  await when(cluster, () => nodes.every(isReady));
  const place = (name: string, nodeName: string, spec: object): void => {
    api.create('pods', pod('shop', name, { spec: { nodeName, ...spec } }));
  };
  api.create('nodes', node('a-1'));
  const spared = [toleration('bad:NoExecute'), toleration('short:NoExecute', 600)];
  place('spared', 'a-1', { tolerations: spared });
  place('tolerant', 'a-2', { tolerations: [toleration('slow:NoExecute', 1)] });
  place('second', 'a-2', { tolerations: [toleration('slow:NoExecute')] });
  place('lost', 'a-3', {});
  const isRunning = (name: string): boolean =>
    api.get('pods', 'shop', name)?.status?.phase === 'Running';
  await when(cluster, () => ['tolerant', 'second', 'lost'].every(isRunning));
}

/** What is taken over where that is asked for. */
function optIn({ cluster: { api } }: EmbeddedCluster): void {
  const shop = api.get('namespaces', '', 'shop');
  assert.ok(shop);
  const labels = { ...shop.metadata.labels, 'taintmgr.dev/takeover': 'enabled' };
  api.update('namespaces', { ...shop, metadata: { ...shop.metadata, labels } });
}

/** A budget that refuses the pod that is overdue. */
function protectOverdue({ cluster: { api } }: EmbeddedCluster): void {
  api.create('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'overdue' },
    spec: { minAvailable: 1, selector: { matchLabels: overdueLabels } },
  });
}

function boundLongAgo(one: KubeObject): KubeObject {
  const conditions = [{ type: 'PodScheduled', status: 'True', lastTransitionTime: past }];
  const metadata = { ...one.metadata, creationTimestamp: past, labels: overdueLabels };
  return { ...one, metadata, status: { ...one.status, phase: 'Running', conditions } };
}

/** The same Event twice: the second time its count is patched. */
async function spareTwice(
  { cluster: { api } }: EmbeddedCluster,
  controller: RunningProcess,
): Promise<void> {
  const setTaints = (taints: readonly object[]): void => {
    const one = api.get('nodes', '', 'a-1');
    assert.ok(one);
    api.update('nodes', { ...one, spec: { ...one.spec, taints } as object });
  };
  const spared = { pod: 'shop/spared' };
  for (const count of [1, 2]) {
    setTaints([{ key: 'short', effect: 'NoExecute' }]);
    await controller.saw('eviction scheduled', spared, count);
    setTaints([]);
    await controller.saw('eviction cancelled', spared, count);
  }
  await controller.saw('recorded event', { ...spared, count: 2 });
}

/** One more taint when the first evictions are over: what the limits keep is written a second time. */
async function taintAgain(
  { cluster: { api } }: EmbeddedCluster,
  controller: RunningProcess,
): Promise<void> {
  const one = api.get('nodes', '', 'a-2');
  assert.ok(one);
  const taints = [...(one.spec.taints ?? []), { key: 'again', effect: 'NoExecute' }];
  api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  await controller.saw('evicted', { pod: 'shop/second' });
}

/** The first taint says since when it counts, the second does not; its node has to be empty by now. */
function taintNodes({ cluster: { api } }: EmbeddedCluster): void {
  const change = (name: string, taint: object): void => {
    const one = api.get('nodes', '', name);
    assert.ok(one);
    const taints = [...(one.spec.taints ?? []), { ...taint, effect: 'NoExecute' }];
    api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  };
  change('a-1', { key: 'bad', timeAdded: past });
  change('a-2', { key: 'slow' });
}

/** What concerns nothing here, so that only its status is written. */
const policies: readonly (readonly [kind: string, spec: object])[] = [
  ['EvictionPolicy', { action: 'Keep', match: { namespaces: ['nowhere'] } }],
  ['NodeTaintRule', { condition: { type: 'Odd' }, taint: { key: 'odd', effect: 'NoSchedule' } }],
  ['EvictionPause', { scope: { namespaces: ['nowhere'] } }],
];

function createPolicies({ cluster: { api } }: EmbeddedCluster): void {
  for (const [kind, spec] of policies) {
    const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata: { name: 'one' }, spec };
    api.create(resourceOf(kind), object);
  }
}

function resourceOf(kind: string): string {
  return `${kind.toLowerCase()}s.taintmgr.dev`.replace('ys.', 'ies.');
}

/** A drain, and its undoing. */
async function drainOne(
  { cluster }: EmbeddedCluster,
  controller: RunningProcess,
  {
    restarts,
    says,
    volumes,
    asks,
  }: Readonly<Record<'restarts' | 'says' | 'volumes' | 'asks', boolean>>,
): Promise<void> {
  const { api } = cluster;
  const resource = 'nodedrains.taintmgr.dev';
  const taint = { key: 'maintenance' };
  const pods = {
    withoutController: true,
    ...(restarts && { singleReplicas: 'RolloutRestart' }),
    ...(volumes && { waitDetached: { timeout: '1m' } }),
    ...(asks && { evictBy: 'EvictionRequest' }),
  };
  const nodeConditions = says ? 'Publish' : 'Ignore';
  const spec = {
    nodes: ['a-3'],
    taint,
    pods,
    nodeConditions,
    timeouts: { rollout: '1s', evictionRequest: '1s' },
  };
  if (restarts) await runSingle(cluster);
  if (volumes) await runSet(cluster);
  if (asks) await installDefinitions(api, [evictionRequestDefinition(), evictionDefinition()]);
  const named = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'NodeDrain',
    metadata: { name: 'one' },
  };
  api.create(resource, { ...named, spec });
  if (restarts) await controller.saw('a Deployment starts another pod before this one goes');
  if (asks) await controller.saw('requested the eviction of a pod');
  await controller.saw('evicted', { pod: 'shop/lost' });
  await when(cluster, () => {
    const status: { readonly phase?: unknown } = api.get(resource, '', 'one')?.status ?? {};
    return status.phase === 'Drained';
  });
  api.delete(resource, '', 'one');
  await when(cluster, () => api.get(resource, '', 'one') === null);
}

/** The leader has said of each policy how it is doing. */
async function policiesReported({ cluster }: EmbeddedCluster): Promise<void> {
  const hasStatus = (kind: string): boolean =>
    cluster.api.get(resourceOf(kind), '', 'one')?.status !== undefined;
  await when(cluster, () => policies.every(([kind]) => hasStatus(kind)));
}

async function work(controller: RunningProcess): Promise<void> {
  await controller.saw('evicted', { pod: 'shop/overdue' });
  await controller.saw('evicted', { pod: 'shop/tolerant' });
  await controller.saw('recorded event', { pod: 'shop/tolerant' });
  const headers = { authorization: 'Bearer of-prometheus' };
  const { status, body } = await ask(controller.port, '/metrics', { headers });
  assert.equal(status, 200, body);
  await controller.saw('publishing status');
}

/** A pod goes while all watches are broken. */
async function goneUnseen({ cluster }: EmbeddedCluster, controller: RunningProcess): Promise<void> {
  const { api } = cluster;
  api.faults.down = true;
  api.delete('pods', 'shop', 'second', { gracePeriodSeconds: 0 });
  api.compact();
  api.faults.down = false;
  await controller.saw('read Events about a pod that is gone', { pod: 'shop/second' });
}

/** What is read again before a pod goes on a view of more than 10 s, which nobody waits for here. */
async function readAgain({ url }: EmbeddedCluster): Promise<void> {
  const headers = { authorization: 'Bearer of-controller' };
  for (const path of ['/api/v1/nodes/a-1', '/api/v1/namespaces/shop/pods/spared']) {
    const { status, body } = await ask(Number(new URL(url).port), path, { headers });
    assert.equal(status, 200, body);
  }
}

describe('the rights of deploy/', () => {
  const ways: readonly (readonly string[])[] = [
    ['modes/delete'],
    ['modes/evict'],
    ['modes/evict-then-delete'],
    ['modes/observe'],
    ['modes/delete', 'components/node-lifecycle'],
    ['modes/delete', 'components/limits'],
    ['modes/delete', 'components/node-drains'],
    ['modes/delete', 'components/node-drains', 'components/rollout-restart'],
    ['modes/delete', 'components/node-drains', 'components/node-conditions'],
    ['modes/delete', 'components/node-drains', 'components/volumes'],
    ['modes/delete', 'components/node-drains', 'components/eviction-requests'],
    ['modes/delete', 'components/takeover'],
    ['modes/evict', 'components/takeover'],
  ];
  for (const folders of ways) {
    it(`are enough and not too many: ${folders.join(' with ')}`, async (t) => {
      const embedded = await startCluster(t);
      grant(embedded, folders);
      await populate(embedded);
      createPolicies(embedded);
      if (folders.includes('modes/evict-then-delete')) protectOverdue(embedded);
      if (folders.includes('components/takeover')) optIn(embedded);
      taintNodes(embedded);
      const connection = { kubeconfig: embedded.kubeconfig, token: 'of-controller' };
      const { environment, flags: chosen } = readManifests(...folders);
      const monitor = ['--node-monitor-period=200ms', '--node-monitor-grace-period=2s'];
      // A port for each of the processes that run beside one another here; and what is overdue for an
      // hour is deleted once its budget has refused, what is due only now is evicted.
      const own = ['--healthz-port=0', '--delete-after=30m'];
      const limits = folders.includes('components/limits') ? [`--policy=${limited(t)}`] : [];
      const flags = [...chosen, ...monitor, ...own, ...limits];
      const controller = await startProcess(t, { connection, flags, environment });
      await work(controller);
      if (folders.includes('components/limits')) await taintAgain(embedded, controller);
      await spareTwice(embedded, controller);
      if (!folders.includes('modes/observe')) await policiesReported(embedded);
      else await goneUnseen(embedded, controller);
      const restarts = folders.includes('components/rollout-restart');
      if (folders.includes('components/node-drains')) {
        const says = folders.includes('components/node-conditions');
        const volumes = folders.includes('components/volumes');
        const asks = folders.includes('components/eviction-requests');
        await drainOne(embedded, controller, { restarts, says, volumes, asks });
      }
      if (folders.includes('components/node-lifecycle')) {
        embedded.cluster.node('a-3').stop();
        await controller.saw('marked a pod of an unreachable node not ready', { pod: 'shop/lost' });
        await controller.saw('recorded event', { node: 'a-3', reason: 'NodeNotReady' });
      }
      await controller.stop();
      await readAgain(embedded);
      const { access } = embedded.cluster.api;
      assert.deepEqual(access.denials, []);
      assert.deepEqual(access.unusedRights(account.name).map(nameOf), []);
    });
  }
});

describe('the rights of the legacy mode', () => {
  it('are enough, and those of components/legacy-pods are used', async (t) => {
    const embedded = await startCluster(t);
    const folders = ['modes/delete', 'components/node-lifecycle', 'components/legacy-pods'];
    grant(embedded, folders);
    await populate(embedded);
    const connection = { kubeconfig: embedded.kubeconfig, token: 'of-controller' };
    const { environment, flags } = readManifests(...folders);
    const monitor = ['--node-monitor-period=200ms', '--node-monitor-grace-period=1s'];
    const file = configuration(t, {
      eviction: { semantics: 'upstream-1.36' },
      nodeLifecycle: { enforcement: 'pods', podEvictionTimeout: '1s' },
    });
    const own = ['--healthz-port=0', `--config=${file}`];
    const all = [...flags, ...monitor, ...own];
    const controller = await startProcess(t, { connection, flags: all, environment });
    embedded.cluster.node('a-3').stop();
    await controller.saw('evicted', { pod: 'shop/lost' });
    await controller.stop();
    const { access } = embedded.cluster.api;
    assert.deepEqual(access.denials, []);
    const unused = access.unusedRights(account.name).map(nameOf);
    assert.deepEqual(
      unused.filter((name) => name.includes('legacy-pods: watch')),
      [],
    );
  });
});

/** A policy with a limit that holds nobody. */
function limited(t: TestContext): string {
  return written(t, {
    kind: 'EvictionPolicy',
    metadata: { name: 'all' },
    spec: { limits: [{ per: 'Total', percent: 100 }] },
  });
}

function configuration(t: TestContext, fields: object): string {
  return written(t, { kind: 'ControllerConfiguration', ...fields });
}

/** A file with an object of ours. */
function written(t: TestContext, object: object): string {
  const directory = mkdtempSync(join(tmpdir(), 'limits-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'object.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'taintmgr.dev/v1alpha1', ...object }));
  return file;
}

/** `Role ns/name: get leases of kube-controller-manager` */
function nameOf({ role, verb, resource, name }: Right): string {
  return `${role}: ${verb} ${resource}${name === null ? '' : ` of ${name}`}`;
}
