// What the leader writes into the status of policies, taint rules and pauses, as kubectl get shows it.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { namespace, node, pod, type Rule, toleration } from '@taintmgr/sim-cluster';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
/** All but the right to write the status of what it follows. */
const noStatus: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['', 'coordination.k8s.io', 'events.k8s.io'], resources: ['*'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['taintmgr.dev'], resources: ['*'] },
];
const found = spawnSync('kubectl', ['version', '--client']).status === 0;
const skip = !found && process.env.REQUIRE_KUBECTL !== '1' && 'there is no kubectl on PATH';
const run = promisify(execFile);
const apiVersion = 'taintmgr.dev/v1alpha1';
const plurals = {
  EvictionPolicy: 'evictionpolicies.taintmgr.dev',
  NodeTaintRule: 'nodetaintrules.taintmgr.dev',
  EvictionPause: 'evictionpauses.taintmgr.dev',
} as const;
type Kind = keyof typeof plurals;

/** Two nodes, one with a taint and one with a broken disk; a pod that is due in an hour, one at once. */
async function startCluster(t: TestContext, rules: readonly Rule[]): Promise<TestApi> {
  const cluster = await startTestApi(rules);
  t.after(() => cluster.stop());
  const { api } = cluster;
  await installDefinitions(api, customResourceDefinitions());
  api.create('namespaces', namespace('shop'));
  api.create('nodes', node('n1', { spec: { taints: [{ key: 'spot', effect: 'NoExecute' }] } }));
  const broken = { type: 'DiskBroken', status: 'True', reason: 'Smart', message: '' };
  api.create('nodes', node('n2', { status: { conditions: [broken] } }));
  const tolerations = [{ ...toleration('spot:NoExecute', 3600) }];
  api.create('pods', pod('shop', 'later', { spec: { nodeName: 'n1', tolerations } }));
  api.create('pods', pod('shop', 'now', { spec: { nodeName: 'n1' } }));
  return cluster;
}

function create({ api }: TestApi, kind: Kind, name: string, spec: object): void {
  api.create(plurals[kind], { apiVersion, kind, metadata: { name }, spec });
}

function start(t: TestContext, { kubeconfig }: TestApi): Promise<RunningProcess> {
  return startProcess(t, { connection: { kubeconfig }, flags: ['--leader-elect=false'] });
}

/** Resolves when the status of an object, as the cluster has it, is so. */
function statusIs(
  { api }: TestApi,
  kind: Kind,
  name: string,
  holds: (status: Record<string, unknown>) => boolean,
): Promise<void> {
  const isSo = (): boolean => holds({ ...api.get(plurals[kind], '', name)?.status });
  return new Promise((resolve) => {
    if (isSo()) return resolve();
    const stop = api.subscribe(() => {
      if (!isSo()) return;
      stop();
      resolve();
    });
  });
}

/** Ages are others each time. */
async function get(cluster: TestApi, ...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run('kubectl', [`--kubeconfig=${cluster.kubeconfig}`, 'get', ...args]);
  return stdout
    .replace(/\b(\d+m)?\d+s\b/g, 'AGE')
    .replace(/ +/g, ' ')
    .trim()
    .split(/ ?\n/);
}

const spot = { action: 'Delete', match: { taints: [{ key: 'spot' }] } };
const disk = {
  condition: { type: 'DiskBroken' },
  taint: { key: 'bad-disk', effect: 'NoSchedule' },
};

describe('the status of policies', () => {
  it('is what kubectl get shows', { skip }, async (t) => {
    const cluster = await startCluster(t, [everything]);
    create(cluster, 'EvictionPolicy', 'spot', spot);
    create(cluster, 'EvictionPause', 'night', { scope: { namespaces: ['shop'] }, reason: 'work' });
    create(cluster, 'NodeTaintRule', 'disk', disk);
    const controller = await start(t, cluster);
    await statusIs(cluster, 'NodeTaintRule', 'disk', ({ nodesTainted }) => nodesTainted === 1);
    await statusIs(cluster, 'EvictionPolicy', 'spot', ({ held }) => held === 2);
    await statusIs(cluster, 'EvictionPause', 'night', ({ pods }) => pods === 2);
    assert.deepEqual(await get(cluster, 'evictionpolicies'), [
      'NAME ACTION PRIORITY TAINT PENDING HELD BLOCKED IN FORCE AGE',
      'spot Delete 0 spot 0 2 0 True AGE',
    ]);
    assert.deepEqual(await get(cluster, 'nodetaintrules', '-o', 'wide'), [
      'NAME CONDITION STATUS TAINT EFFECT MAX TAINTED NODES DRY RUN IN FORCE AGE',
      'disk DiskBroken True bad-disk NoSchedule 1 2 false True AGE',
    ]);
    assert.deepEqual(await get(cluster, 'evictionpauses', '-o', 'wide'), [
      'NAME REASON UNTIL PODS SINCE GIVEN BACK READINESS IN FORCE AGE',
      'night work 2 AGE AGE false True AGE',
    ]);
    cluster.api.delete(plurals.EvictionPause, '', 'night');
    await controller.saw('evicted', { pod: 'shop/now' });
    await statusIs(cluster, 'EvictionPolicy', 'spot', ({ pending }) => pending === 1);
    await controller.stop();
  });

  it('is not needed: without the right to write it pods are evicted, and it is said once', async (t) => {
    const cluster = await startCluster(t, noStatus);
    create(cluster, 'EvictionPolicy', 'spot', spot);
    create(cluster, 'EvictionPolicy', 'all', { action: 'Delete' });
    const controller = await start(t, cluster);
    const text = 'the status of policies is not published';
    await controller.saw(text, { resource: 'evictionpolicies', again: 'once a minute' });
    await controller.saw('evicted', { pod: 'shop/now' });
    await controller.stop();
    assert.equal(controller.lines.filter(({ msg }) => msg === text).length, 1);
  });

  it('is no reason to decide anew', async (t) => {
    const cluster = await startCluster(t, [everything]);
    create(cluster, 'EvictionPolicy', 'spot', spot);
    create(cluster, 'EvictionPause', 'elsewhere', { scope: { namespaces: ['other'] } });
    const controller = await start(t, cluster);
    await controller.saw('evicted', { pod: 'shop/now' });
    await statusIs(cluster, 'EvictionPolicy', 'spot', ({ pending }) => pending === 1);
    await statusIs(cluster, 'EvictionPause', 'elsewhere', ({ pods }) => pods === 0);
    await controller.stop();
    const moved = controller.lines.filter(({ msg }) => msg === 'eviction moved');
    assert.deepEqual(moved, []);
    const pauses = cluster.api.get(plurals.EvictionPause, '', 'elsewhere');
    assert.equal(Object(pauses?.status).since, pauses?.metadata.creationTimestamp);
  });
});
