// A NodeDrain that waits for volumes to be detached, as the real kubectl shows it.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { execute, withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { type KubeObject, statefulSet, type Topology } from '@taintmgr/sim-cluster';
import { startCluster, startController, until, type WatchedCluster } from './programs.ts';

const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }];
const spec = { volumeClaimTemplates, podManagementPolicy: 'Parallel' };
const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 1,
  workloads: [statefulSet('shop', 'db', { replicas: 2, spec })],
  budgets: [],
};

const drain = {
  apiVersion: 'taintmgr.dev/v1alpha1',
  kind: 'NodeDrain',
  metadata: { name: 'kernel' },
  spec: {
    nodes: ['a-1'],
    taint: { key: 'maintenance' },
    pods: { waitDetached: { timeout: '5m' } },
  },
};

const waiting = /^pod shop\/db-1: waits for volume pvc-\S+ of pod db-0 to detach from node a-1$/;

/** A set of two pods on one node, another node, and a controller that carries out NodeDrains. */
async function start(t: TestContext): Promise<WatchedCluster> {
  const attachTiming = { attachMs: 100, detachMs: 10_000 };
  const watched = await startCluster(t, topology, { attachTiming });
  watched.cluster.addNode({ name: 'a-2', region: 'r', zone: 'a' });
  await until('the second node', () => watched.cluster.isIdle());
  await startController(t, watched);
  return watched;
}

/** Which volumes are attached to the node when a pod of it is made to go. */
function watchRemovals(t: TestContext, { cluster: { api } }: WatchedCluster): readonly string[] {
  const seen: string[] = [];
  const isOnNode = ({ spec: { nodeName } }: KubeObject): boolean => nodeName === 'a-1';
  t.after(
    api.subscribe(
      ({ object, previous }) => {
        const isNews = object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp;
        if (!isNews || !isOnNode(object)) return;
        const attached = api.list('volumeattachments').filter(isOnNode).length;
        seen.push(`${object.metadata.name}: ${attached} attached`);
      },
      new Set(['pods']),
    ),
  );
  return seen;
}

describe('a NodeDrain and the volumes of a StatefulSet', { skip: withoutKubectl }, () => {
  it('makes its next pod go when those of the one before are detached', async (t) => {
    const watched = await start(t);
    const { api } = watched.cluster;
    const removals = watchRemovals(t, watched);
    const kubectl = async (line: string, input: object = {}): Promise<string> => {
      const env = { ...process.env, KUBECONFIG: watched.kubeconfig };
      const { out, err } = await execute('kubectl', line.split(' '), env, JSON.stringify(input));
      return `${out}${err}`.trim();
    };
    assert.equal(await kubectl('apply -f -', drain), 'nodedrain.taintmgr.dev/kernel created');
    const first = (): string =>
      api.get('nodedrains.taintmgr.dev', '', 'kernel')?.status?.blockers?.[0] ?? '';
    await until(`${waiting}`, () => waiting.test(first()), first);
    const said = await kubectl('get nodedrain kernel -o jsonpath={.status.blockers[0]}');
    assert.match(said, waiting);
    const message = await kubectl(
      'get nodedrain kernel -o jsonpath={.status.pods[?(@.pod=="shop/db-1")].message}',
    );
    assert.match(message, /^waits for volume/);
    const waited = await kubectl('wait --for=condition=Drained nodedrain/kernel --timeout=150s');
    assert.equal(waited, 'nodedrain.taintmgr.dev/kernel condition met');
    assert.deepEqual(removals, ['db-0: 2 attached', 'db-1: 1 attached']);
  });
});
