import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type EmbeddedCluster, serviceAccountUser, startEmbedded } from '@taintmgr/api-server';
import { namespace, pod } from '@taintmgr/sim-cluster';
import { denialsThatCount } from '../deploy/denials.ts';
import { readManifests } from '../deploy/manifests.ts';
import { startProcess } from '../harness/running-process.ts';

// node-pressure-controller as it runs, in real time and over HTTPS, with kubelets that tell it of
// nodes that have run out of memory.

const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
const fast = {
  heartbeatMs: 300,
  startupMs: [10, 20],
  podStartMs: [10, 20],
  // The status of a pod is written once its removal was accepted: it must still be there then.
  podStopMs: [1000, 1100],
} as const;
const account = serviceAccountUser('taintmgr-system', 'taintmgr-controller');
const flags = [
  '--controllers=*,node-pressure-controller',
  '--eviction-hard=memory.available<1Gi',
  '--summary-period=1s',
];

/** A node on which `db` uses nearly everything, and `web` a little. */
async function startCluster(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({
    users: new Map([['of-controller', account]]),
    topology: none,
    timing: fast,
    without: ['conditionTaints', 'workloads', 'scheduler'],
  });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  const running = new Set<string>();
  const bothRun = new Promise<void>((resolve) => {
    api.subscribe(({ resource, object }) => {
      if (resource !== 'pods' || object.status?.phase !== 'Running') return;
      running.add(object.metadata.name);
      if (running.size === 2) resolve();
    });
  });
  embedded.cluster.addNode({ name: 'n1', region: 'r', zone: 'a' });
  api.create('namespaces', namespace('shop'));
  for (const name of ['db', 'web']) {
    const { spec } = pod('shop', name);
    api.create('pods', pod('shop', name, { spec: { ...spec, nodeName: 'n1' } }));
  }
  await bothRun;
  embedded.cluster.node('n1').stats.usePod('shop/db', { memory: 14.5 * 2 ** 30 });
  return embedded;
}

/** When a node is written that has the taint for memory, or has it no more. */
function nodeIsTainted({ api }: EmbeddedCluster['cluster'], wanted: boolean): Promise<void> {
  return new Promise((resolve) => {
    api.subscribe(({ resource, object }) => {
      const taints: readonly { key: string }[] = object.spec?.taints ?? [];
      const isPressed = taints.some(({ key }) => key === 'taintmgr.dev/memory-pressure');
      if (resource === 'nodes' && isPressed === wanted) resolve();
    });
  });
}

describe('node-pressure-controller', () => {
  it('evicts once it is elected, tells so, and the node is tainted', {
    timeout: 180_000,
  }, async (t) => {
    const { cluster, kubeconfig } = await startCluster(t);
    const tainted = nodeIsTainted(cluster, true);
    const controller = await startProcess(t, { connection: { kubeconfig }, flags });
    await controller.saw('evicted', { pod: 'shop/db', node: 'n1' });
    await controller.saw('recorded event', { pod: 'shop/db', reason: 'Evicted' });
    await tainted;
    await controller.stop();
    const sent = controller.lines.findIndex(({ msg }) => msg === 'evicting');
    const elected = controller.lines.findIndex(({ msg }) =>
      String(msg).startsWith('became the leader'),
    );
    assert.ok(elected >= 0 && elected < sent);
    assert.ok(cluster.api.get('pods', 'shop', 'web'));
  });

  it('is switched off, and its taint goes', { timeout: 180_000 }, async (t) => {
    const { cluster, kubeconfig } = await startCluster(t);
    const tainted = nodeIsTainted(cluster, true);
    const before = await startProcess(t, { connection: { kubeconfig }, flags });
    await tainted;
    await before.stop();
    const untainted = nodeIsTainted(cluster, false);
    const after = await startProcess(t, { connection: { kubeconfig }, flags: [] });
    await untainted;
    await after.stop();
  });

  for (const dryRun of ['client', 'server']) {
    it(`--dry-run=${dryRun} says what would go, once, and changes nothing`, {
      timeout: 180_000,
    }, async (t) => {
      const { cluster, kubeconfig } = await startCluster(t);
      const before = structuredClone(cluster.api.list('pods'));
      const controller = await startProcess(t, {
        connection: { kubeconfig },
        flags: [...flags, `--dry-run=${dryRun}`],
      });
      await controller.saw('dry run: would have evicted', { pod: 'shop/db' });
      await controller.saw('set conditions of a node', { node: 'n1' });
      await controller.stop();
      assert.deepEqual(cluster.api.list('pods'), before);
      const conditions: readonly { type: string }[] =
        cluster.api.get('nodes', '', 'n1')?.status.conditions ?? [];
      assert.ok(!conditions.some(({ type }) => type.startsWith('taintmgr.dev/')));
    });
  }

  it('has rights enough by deploy/, and each of them is made use of in some mode', {
    timeout: 180_000,
  }, async (t) => {
    const unused = [];
    for (const mode of ['modes/evict', 'modes/delete']) {
      unused.push(await unusedRights(t, [mode, 'components/node-pressure']));
    }
    const [first = [], second = []] = unused;
    assert.deepEqual(
      first.filter((right) => second.includes(right)),
      [],
    );
  });
});

/** Evicts with the rights of these folders; those of the component that nothing made use of. */
async function unusedRights(
  t: TestContext,
  folders: readonly string[],
): Promise<readonly string[]> {
  const { cluster, kubeconfig } = await startCluster(t);
  const { api } = cluster;
  api.create('namespaces', namespace('taintmgr-system'));
  const { objects, environment, flags: chosen } = readManifests(...folders);
  for (const object of objects) {
    const kind = object.kind ?? '';
    const isRight = /^(Cluster)?Role(Binding)?$/.test(kind);
    if (isRight) api.create(`${kind.toLowerCase()}s`, object);
  }
  const connection = { kubeconfig, token: 'of-controller' };
  const controller = await startProcess(t, {
    connection,
    flags: [...chosen, '--healthz-port=0'],
    environment,
  });
  await controller.saw('evicted', { pod: 'shop/db' });
  await controller.saw('recorded event', { pod: 'shop/db' });
  await controller.saw('set conditions of a node', { node: 'n1' });
  await controller.stop();
  assert.deepEqual(denialsThatCount(api.access.denials), []);
  const rights = api.access.unusedRights(account.name);
  return rights
    .filter(({ role }) => /:(node-pressure|summaries)$/.test(role))
    .map(({ verb, resource }) => `${verb} ${resource}`);
}
