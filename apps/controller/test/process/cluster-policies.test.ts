import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { namespace, node, pod, type Rule, toleration } from '@taintmgr/sim-cluster';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// The whole controller follows policies and pauses of a cluster that has our kinds.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const apiVersion = 'taintmgr.dev/v1alpha1';

async function startCluster(t: TestContext): Promise<TestApi> {
  const cluster = await startTestApi([everything]);
  t.after(() => cluster.stop());
  const { api } = cluster;
  await installDefinitions(api, customResourceDefinitions());
  api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
  for (const name of ['kept', 'other']) {
    const metadata = { labels: { app: name } };
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };
    const one = pod('default', name, { spec });
    api.create('pods', { ...one, metadata: { ...one.metadata, ...metadata } });
  }
  return cluster;
}

function create({ api }: TestApi, kind: keyof typeof plurals, name: string, spec: object): void {
  api.create(plurals[kind], { apiVersion, kind, metadata: { name }, spec });
}

const plurals = {
  EvictionPolicy: 'evictionpolicies.taintmgr.dev',
  EvictionPause: 'evictionpauses.taintmgr.dev',
};

function start(t: TestContext, { kubeconfig }: TestApi): Promise<RunningProcess> {
  return startProcess(t, { connection: { kubeconfig }, flags: ['--leader-elect=false'] });
}

const keep = {
  priority: 10,
  match: { podSelector: { matchLabels: { app: 'kept' } } },
  action: 'Keep',
};

describe('policies of the cluster', () => {
  it('keep a pod from the start, and until they are taken away', async (t) => {
    const cluster = await startCluster(t);
    create(cluster, 'EvictionPolicy', 'keep', keep);
    const controller = await start(t, cluster);
    await controller.saw('evicted', { pod: 'default/other' });
    assert.ok(cluster.api.get('pods', 'default', 'kept'));
    cluster.api.delete(plurals.EvictionPolicy, '', 'keep');
    await controller.saw('evicted', { pod: 'default/kept' });
    await controller.stop();
  });

  it('are made while it runs, and a pause holds what is due until it is gone', async (t) => {
    const cluster = await startCluster(t);
    create(cluster, 'EvictionPause', 'all', { reason: 'network maintenance' });
    const controller = await start(t, cluster);
    await controller.saw('caches synced, evictions start');
    create(cluster, 'EvictionPolicy', 'keep', keep);
    cluster.api.delete(plurals.EvictionPause, '', 'all');
    await controller.saw('evicted', { pod: 'default/other' });
    await controller.stop();
    assert.ok(cluster.api.get('pods', 'default', 'kept'));
  });

  it('give back the time of a pause that was deleted while no controller ran', async (t) => {
    const cluster = await startCluster(t);
    const tolerations = [{ ...toleration('bad:NoExecute', 3) }];
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0, tolerations };
    cluster.api.delete('pods', 'default', 'other');
    for (const name of ['held', 'running']) {
      cluster.api.create('namespaces', namespace(name));
      cluster.api.create('pods', pod(name, name, { spec }));
    }
    create(cluster, 'EvictionPause', 'night', { scope: { namespaces: ['held'] } });
    const first = await start(t, cluster);
    await first.saw('publishing status');
    // Then the other one's time would be over too.
    await first.saw('evicted', { pod: 'running/running' });
    await first.stop();
    const [manager] = cluster.api.list('taintmanagers.taintmgr.dev');
    assert.match(JSON.stringify(manager), /"pauseRecords":\[{"name":"night"/);
    cluster.api.delete(plurals.EvictionPause, '', 'night');
    const resumedAt = Date.now();
    const second = await start(t, cluster);
    await second.saw('evicted', { pod: 'held/held' });
    const took = Date.now() - resumedAt;
    assert.ok(took >= 2_900, `evicted ${took} ms after the pause was deleted`);
    await second.stop();
  });

  it('are not looked at where it is told so', async (t) => {
    const cluster = await startCluster(t);
    create(cluster, 'EvictionPolicy', 'keep', keep);
    const { kubeconfig } = cluster;
    const flags = ['--leader-elect=false', '--cluster-policies=false'];
    const controller = await startProcess(t, { connection: { kubeconfig }, flags });
    await controller.saw('evicted', { pod: 'default/kept' });
    await controller.stop();
  });
});
