// The whole way of a policy and of a pause: the controller acts, and the plugin says the same as it does.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { ask } from '@taintmgr/controller/test/harness/https-client.ts';
import {
  type RunningProcess,
  startProcess,
} from '@taintmgr/controller/test/harness/running-process.ts';
import { startTestApi, type TestApi } from '@taintmgr/controller/test/harness/test-api.ts';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { run } from '@taintmgr/kubectl-taintmgr/test/world/run.ts';
import { namespace, node, pod, toleration } from '@taintmgr/sim-cluster';

const apiVersion = 'taintmgr.dev/v1alpha1';
const admin = { name: 'admin', groups: ['system:masters'], rules: [] };
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

async function startCluster(t: TestContext): Promise<TestApi> {
  const cluster = await startTestApi([everything], { admin });
  t.after(() => cluster.stop());
  const { api } = cluster;
  await installDefinitions(api, customResourceDefinitions());
  for (const name of ['shop', 'other']) api.create('namespaces', namespace(name));
  api.create('nodes', node('n1'));
  process.env.KUBECONFIG = cluster.kubeconfig;
  return cluster;
}

function start(t: TestContext, { kubeconfig }: TestApi): Promise<RunningProcess> {
  return startProcess(t, { connection: { kubeconfig }, flags: ['--mode=evict'] });
}

function taint({ api }: TestApi, key: string): void {
  const one = api.get('nodes', '', 'n1') ?? assert.fail('no node');
  api.update('nodes', { ...one, spec: { ...one.spec, taints: [{ key, effect: 'NoExecute' }] } });
}

/** What the plugin says, in one piece. */
async function plugin(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}`);
  return out;
}

/** What the controller itself says of a pod. */
async function explainz({ port }: RunningProcess, name: string): Promise<string> {
  const headers = { authorization: 'Bearer admin' };
  const { status, body } = await ask(port, `/explainz?pod=${name}`, { headers });
  assert.equal(status, 200, body);
  return body;
}

describe('a policy that lets a taint settle for 10 minutes', () => {
  it('is followed by the controller, and the plugin names the same second', async (t) => {
    const cluster = await startCluster(t);
    cluster.api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
    cluster.api.create('evictionpolicies.taintmgr.dev', {
      apiVersion,
      kind: 'EvictionPolicy',
      metadata: { name: 'spot' },
      spec: { match: { taints: [{ key: 'spot' }] }, action: 'Evict', minTaintAge: '10m' },
    });
    const controller = await start(t, cluster);
    await controller.saw('publishing status');
    const from = Date.now();
    taint(cluster, 'spot');
    await controller.saw('eviction scheduled', { pod: 'shop/web' });
    const text = await plugin('explain', 'pod', 'web', '-n', 'shop', '-o', 'json');
    const { deadline, because, evictedBy } = JSON.parse(text);
    assert.equal(evictedBy, 'taintmgr-controller');
    const why = 'no toleration for spot:NoExecute, which must last 10m first, by policy spot';
    assert.deepEqual(
      because.map((reason: { readonly text: string }) => reason.text),
      [why],
    );
    const page = await explainz(controller, 'shop/web');
    assert.ok(page.includes(why), page);
    assert.match(page, /Evict +(10m|9m\d+s) /);
    const settled = Date.parse(deadline) - from;
    assert.ok(settled >= 599_000 && settled <= 602_000 + (Date.now() - from), deadline);
    await controller.stop();
    assert.ok(cluster.api.get('pods', 'shop', 'web'));
  });
});

/** Long enough for what happens before the pods are due, on a slow machine too. */
const tolerationSeconds = 12;

describe('a pause while pods are pending', () => {
  it('holds them across a restart, is told by every command, and gives its time back', async (t) => {
    const cluster = await startCluster(t);
    const { api } = cluster;
    const tolerations = [{ ...toleration('bad:NoExecute', tolerationSeconds) }];
    const spec = { nodeName: 'n1', tolerations, terminationGracePeriodSeconds: 0 };
    for (const name of ['shop', 'other']) api.create('pods', pod(name, 'web', { spec }));
    const first = await start(t, cluster);
    await first.saw('publishing status');
    const tainted = Date.now();
    taint(cluster, 'bad');
    await first.saw('eviction scheduled', { pod: 'shop/web' });
    const args = ['--namespaces=shop', '--reason=new switches'];
    const made = await plugin('pause', 'night', ...args);
    const paused = Date.now();
    assert.match(made, /evictions of pods in namespace shop are held until you run/);
    await first.saw('eviction cancelled', { pod: 'shop/web' });
    // What was due at the same time and is not paused goes; what is paused does not.
    await first.saw('evicted', { pod: 'other/web' });
    await everybodySays(first, cluster);
    await first.stop();
    const second = await start(t, cluster);
    await second.saw('became the leader');
    await second.saw('caches synced, evictions start');
    await everybodySays(second, cluster);
    const resumed = Date.now();
    const ended = await plugin('resume', 'pause/night');
    assert.match(ended, /night deleted: evictions of pods in namespace shop were held for \d+s/);
    await second.saw('evicted', { pod: 'shop/web' });
    const left = tolerationSeconds * 1000 - (paused - tainted);
    assert.ok(Date.now() - resumed >= left, `${Date.now() - resumed} ms after resume, not ${left}`);
    await second.stop();
  });
});

describe('a pause of node health alone', () => {
  it('keeps the taint from unhealthy nodes of one zone until it is resumed, and evictions go on', async (t) => {
    const cluster = await startCluster(t);
    const { api } = cluster;
    const heartbeat = new Date().toISOString().replace(/[.]\d+/, '');
    const times = { lastHeartbeatTime: heartbeat, lastTransitionTime: heartbeat };
    const ready = (status: string): object => {
      return { type: 'Ready', status, reason: 'Test', message: '', ...times };
    };
    for (const zone of ['a', 'b']) {
      for (const name of [`${zone}-1`, `${zone}-2`, `${zone}-3`]) {
        const one = node(name);
        const labels = { 'topology.kubernetes.io/zone': zone };
        const status = { conditions: [ready('True')] };
        api.create('nodes', { ...one, metadata: { ...one.metadata, labels }, status } as never);
      }
    }
    api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
    const said = await plugin('pause', 'health', '--readiness', '--deadlines=false', '--zones=a');
    assert.match(said, /node health in zone a is held until you run/);
    const controller = await start(t, cluster);
    await controller.saw('publishing status');
    for (const name of ['a-1', 'b-1']) {
      const one = api.get('nodes', '', name) ?? assert.fail(name);
      const status = { ...one.status, conditions: [ready('False')] };
      api.update('nodes', { ...one, status } as never, 'status');
    }
    const effects = (name: string): readonly string[] => {
      const taints: readonly { readonly key: string; readonly effect: string }[] =
        api.get('nodes', '', name)?.spec?.taints ?? [];
      return taints.flatMap(({ key, effect }) => (key.endsWith('/not-ready') ? [effect] : []));
    };
    const has = (name: string): boolean => effects(name).includes('NoExecute');
    await changed(cluster, () => has('b-1'));
    await changed(cluster, () => effects('a-1').includes('NoSchedule'));
    assert.equal(has('a-1'), false);
    // Evictions are not held.
    taint(cluster, 'bad');
    await controller.saw('evicted', { pod: 'shop/web' });
    const node1 = await plugin('explain', 'node', 'a-1');
    assert.match(node1, /tainting is paused by health/);
    assert.match(await plugin('status'), /^health +.* node health in zone a +-$/m);
    assert.equal(has('a-1'), false);
    await plugin('resume', 'pause/health');
    await changed(cluster, () => has('a-1'));
    await controller.stop();
  });
});

/** Resolves when it is so, at once or after some change in the cluster. */
function changed({ api }: TestApi, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isSo()) return resolve();
    const stop = api.subscribe(() => {
      if (!isSo()) return;
      stop();
      resolve();
    });
  });
}

/** That the pod stays, and by which pause. */
async function everybodySays(controller: RunningProcess, { api }: TestApi): Promise<void> {
  const why = 'deadlines are paused by night';
  const page = await explainz(controller, 'shop/web');
  assert.ok(page.includes(why), page);
  const explained = await plugin('explain', 'pod', 'web', '-n', 'shop');
  assert.ok(explained.includes(why), explained);
  const pending = await plugin('pending', '-n', 'shop');
  assert.match(pending, /^shop +web +n1 +\S+ +bad:NoExecute +pause night$/m);
  const status = await plugin('status');
  assert.match(status, /^night +\d+s ago +- +evictions of pods in namespace shop +new switches$/m);
  assert.match(status, /^1 tainted node, 0 evictions pending, 1 held$/m);
  const onNode = await plugin('explain', 'node', 'n1');
  assert.match(onNode, /^Pods: +0 of \d to evict, 1 held/m);
  const held = api.get('pods', 'shop', 'web') ?? assert.fail('the pod is gone');
  assert.equal(held.metadata.deletionTimestamp, undefined);
}
