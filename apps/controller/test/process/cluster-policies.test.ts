import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { customResourceDefinitions } from '@taintmgr/core/policy';
import { installDefinitions, node, pod, type Rule } from '@taintmgr/sim-cluster';
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
