import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  type EmbeddedCluster,
  evictionDefinition,
  evictionRequestDefinition,
  installDefinitions,
  type Right,
} from '@taintmgr/api-server';
import { pod } from '@taintmgr/sim-cluster';
import { type Component, foldersOf, titleOf, type Way, worked } from '../deploy/chart-choices.ts';
import { denialsThatCount } from '../deploy/denials.ts';
import { type Manifests, readManifests } from '../deploy/manifests.ts';
import {
  account,
  createAction,
  createPolicies,
  grant,
  optIn,
  policies,
  populate,
  protectAll,
  protectOverdue,
  resourceOf,
  startCluster,
  taintNodes,
  takeAway,
} from '../deploy/rights-world.ts';
import { runSet, runSingle, when } from '../deploy/single-replica.ts';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';

// Each way to run it that deploy/ has, with the rights that deploy/ gives: nothing it does is
// forbidden, and it makes use of every right.

/** The same Event twice: the second time its count is patched. */
async function spareTwice(
  { cluster: { api } }: EmbeddedCluster,
  controller: RunningProcess,
  says: string,
): Promise<void> {
  const setTaints = (taints: readonly object[]): void => {
    const one = api.get('nodes', '', 'a-1');
    assert.ok(one);
    api.update('nodes', { ...one, spec: { ...one.spec, taints } as object });
  };
  const spared = { pod: 'shop/spared' };
  for (const count of [1, 2]) {
    setTaints([{ key: 'short', effect: 'NoExecute' }]);
    await controller.saw(`${says}eviction scheduled`, spared, count);
    setTaints([]);
    await controller.saw(`${says}eviction cancelled`, spared, count);
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
    ttlSecondsAfterFinished: 0,
  };
  if (restarts) await runSingle(cluster);
  if (volumes) await runSet(cluster);
  if (asks) await installDefinitions(api, [evictionRequestDefinition(), evictionDefinition()]);
  const named = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'NodeDrain',
    metadata: { name: 'one' },
  };
  protectAll(cluster);
  api.create(resource, { ...named, spec });
  await when(cluster, () => {
    const status: { readonly pods?: readonly { readonly verdict?: string }[] } =
      api.get(resource, '', 'one')?.status ?? {};
    return status.pods?.some(({ verdict }) => verdict === 'resolves') === true;
  });
  api.delete('poddisruptionbudgets', 'shop', 'all');
  if (restarts) await controller.saw('a Deployment starts another pod before this one leaves');
  if (asks) await controller.saw('requested the eviction of a pod');
  await controller.saw('evicted', { pod: 'shop/lost' });
  await when(cluster, () => api.get(resource, '', 'one') === null);
}

/** A pod for whose device its driver has a taint, and one for whose device a rule has. */
async function evictForDevices(
  { cluster: { api } }: EmbeddedCluster,
  controller: RunningProcess,
): Promise<void> {
  const [driver, pool] = ['gpu.example.com', 'a-3'];
  const taint = { key: 'health', effect: 'NoExecute' };
  const names = ['by-slice', 'by-rule'];
  for (const name of names) {
    const claim = api.create('resourceclaims', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name, namespace: 'shop' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } },
    });
    const resourceClaims = [{ name: 'gpu', resourceClaimName: name }];
    const made = api.create(
      'pods',
      pod('shop', name, { spec: { nodeName: 'a-3', resourceClaims } }),
    );
    const results = [{ request: 'r', driver, pool, device: name }];
    const reservedFor = [{ resource: 'pods', name, uid: made.metadata.uid ?? '' }];
    const status = { allocation: { devices: { results } }, reservedFor };
    api.update('resourceclaims', { ...claim, status }, 'status');
  }
  api.create('resourceslices', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 'a-3-gpu' },
    spec: {
      ...{ driver, nodeName: 'a-3' },
      pool: { name: pool, generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'by-slice', taints: [taint] }, { name: 'by-rule' }],
    },
  });
  api.create('devicetaintrules', {
    metadata: { name: 'by-rule' },
    spec: { deviceSelector: { device: 'by-rule' }, taint },
  });
  for (const name of names) await controller.saw('evicted', { pod: `shop/${name}` });
}

/** The leader has said of each policy how it is doing. */
async function policiesReported({ cluster }: EmbeddedCluster): Promise<void> {
  const hasStatus = (kind: string): boolean =>
    cluster.api.get(resourceOf(kind), '', 'one')?.status !== undefined;
  await when(cluster, () => policies.every(([kind]) => hasStatus(kind)));
}

async function work(controller: RunningProcess, evicted: string): Promise<void> {
  await controller.saw(evicted, { pod: 'shop/overdue' });
  await controller.saw(evicted, { pod: 'shop/tolerant' });
  await controller.saw('recorded event', { pod: 'shop/tolerant' });
  const headers = { authorization: 'Bearer of-prometheus' };
  const { status, body } = await ask(controller.port, '/metrics', { headers });
  assert.equal(status, 200, body);
  await controller.saw('publishing status');
}

/** Since when the taint counts that does not say it: the node is patched while a pod waits. */
async function startsWritten({ cluster }: EmbeddedCluster): Promise<void> {
  const annotation = 'taintmgr.dev/taint-starts';
  await when(cluster, () =>
    Object.hasOwn(cluster.api.get('nodes', '', 'a-2')?.metadata.annotations ?? {}, annotation),
  );
}

/** The segment is there; the end of the process writes it once more. */
async function historyWritten({ cluster }: EmbeddedCluster): Promise<void> {
  const name = 'taintmgr-controller-history-0';
  await when(cluster, () => Boolean(cluster.api.get('configmaps', 'taintmgr-system', name)));
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

/** Runs what was chosen with the rights that it brings, and has it use all of them. */
async function useRights(
  t: TestContext,
  manifests: Manifests,
  { mode, components }: Way,
): Promise<void> {
  const has = (component: Component): boolean => components.includes(component);
  const embedded = await startCluster(t);
  grant(embedded, manifests.objects);
  await populate(embedded);
  createPolicies(embedded);
  if (has('deletions')) createAction(embedded, 'Delete');
  if (has('evictions')) createAction(embedded, 'Evict');
  if (mode === 'evict-then-delete') protectOverdue(embedded);
  if (has('takeover')) optIn(embedded);
  if (has('takeover-repair')) takeAway(embedded, manifests.objects);
  taintNodes(embedded);
  const connection = { kubeconfig: embedded.kubeconfig, token: 'of-controller' };
  const { environment, flags: chosen } = manifests;
  const monitor = ['--node-monitor-period=200ms', '--node-monitor-grace-period=2s'];
  // A port for each of the processes that run beside one another here; and what is overdue for an
  // hour is deleted once its budget has refused, what is due only now is evicted.
  const own = ['--healthz-port=0', '--delete-after=30m'];
  const limits = has('limits') ? [`--policy=${limited(t)}`] : [];
  const flags = [...chosen, ...monitor, ...own, ...limits];
  const controller = await startProcess(t, { connection, flags, environment });
  await work(controller, mode === 'observe' ? 'dry run: would have evicted' : 'evicted');
  if (mode !== 'observe') await startsWritten(embedded);
  if (has('limits')) await taintAgain(embedded, controller);
  if (has('device-taints')) await evictForDevices(embedded, controller);
  await spareTwice(embedded, controller, mode === 'observe' ? 'dry run: ' : '');
  if (mode !== 'observe') await policiesReported(embedded);
  else await goneUnseen(embedded, controller);
  if (has('node-drains')) {
    await drainOne(embedded, controller, {
      restarts: has('rollout-restart'),
      says: has('node-conditions'),
      volumes: has('volumes'),
      asks: has('eviction-requests'),
    });
  }
  if (has('node-lifecycle')) {
    embedded.cluster.node('a-3').stop();
    await controller.saw('marked a pod of an unreachable node not ready', { pod: 'shop/lost' });
    await controller.saw('recorded event', { node: 'a-3', reason: 'NodeNotReady' });
  }
  if (mode !== 'observe') await historyWritten(embedded);
  await controller.stop();
  await readAgain(embedded);
  const { access } = embedded.cluster.api;
  assert.deepEqual(denialsThatCount(access.denials), []);
  const unused = access.unusedRights(account.name).filter((right) => !isOfLaterSegment(right));
  assert.deepEqual(unused.map(nameOf), []);
}

/** The history of evictions comes to its second segment after thousands of them. */
function isOfLaterSegment({ verb, resource, name }: Right): boolean {
  const isLater = /-history-\d+$/.test(name ?? '') && !name?.endsWith('-history-0');
  return isLater && verb === 'update' && resource === 'configmaps';
}

// The chart installs the same rights: chart-same.test.ts compares these ways too.
describe('the rights of deploy/kustomize', { concurrency: 4 }, () => {
  for (const way of worked) {
    it(`are enough and not too many: ${titleOf(way)}`, async (t) => {
      await useRights(t, readManifests(...foldersOf(way)), way);
    });
  }
});

describe('the rights of the legacy mode', () => {
  it('are enough, and those of components/legacy-pods are used', async (t) => {
    const embedded = await startCluster(t);
    const folders = ['modes/delete', 'components/node-lifecycle', 'components/legacy-pods'];
    grant(embedded, readManifests(...folders).objects);
    await populate(embedded);
    const connection = { kubeconfig: embedded.kubeconfig, token: 'of-controller' };
    const { environment, flags } = readManifests(...folders);
    const monitor = ['--node-monitor-period=200ms', '--node-monitor-grace-period=1s'];
    const file = configuration(t, {
      eviction: { semantics: 'kube-controller-manager' },
      nodeLifecycle: { enforcement: 'pods', podEvictionTimeout: '1s' },
    });
    const own = ['--healthz-port=0', `--config=${file}`];
    const all = [...flags, ...monitor, ...own];
    const controller = await startProcess(t, { connection, flags: all, environment });
    embedded.cluster.node('a-3').stop();
    await controller.saw('evicted', { pod: 'shop/lost' });
    await controller.stop();
    const { access } = embedded.cluster.api;
    assert.deepEqual(denialsThatCount(access.denials), []);
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
