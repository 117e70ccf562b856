import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { type Json, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { leaveTaints, startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// What explain says where policies and pauses are in the cluster.

const key = (kind: 'EvictionPolicy' | 'EvictionPause'): string =>
  `${policyKinds[kind].plural}.taintmgr.dev`;

function create(
  { api }: TestCluster,
  kind: 'EvictionPolicy' | 'EvictionPause',
  name: string,
  spec: Json,
): void {
  const apiVersion = 'taintmgr.dev/v1alpha1';
  api.create(key(kind), { apiVersion, kind, metadata: { name }, spec });
}

/** NAME, DECISION, IN and WHY of each pod; times are as of the second of the taint. */
async function explained(): Promise<readonly string[]> {
  const { code, out, err } = await run('explain', 'node', 'n1', '-o', 'wide');
  assert.equal(code, 0, err);
  const rows = out.split('\n').filter((line) => /^(default|vault) /.test(line));
  return rows.map((line) => {
    const [, name, decision, at, ...others] = line.trim().split(/ {2,}/);
    const when = at?.replace(/^overdue by .*/, 'now').replace(/^59m.*/, '1h');
    return [name, decision, when, others.at(-1)].join(' | ');
  });
}

describe('policies of the cluster', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    leaveTaints(api);
    api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
    for (const name of ['kept', 'other']) {
      const one = pod('default', name, { spec: { nodeName: 'n1' } });
      api.create('pods', { ...one, metadata: { ...one.metadata, labels: { app: name } } });
    }
  });
  after(() => cluster.stop());

  it('are none where the kinds are not installed', async () => {
    assert.deepEqual(await explained(), [
      'kept | Evict | now | no toleration for bad:NoExecute',
      'other | Evict | now | no toleration for bad:NoExecute',
    ]);
  });

  it('decide as they decide for the controller', async () => {
    const { api } = cluster;
    await installDefinitions(api, customResourceDefinitions());
    api.create('namespaces', { metadata: { name: 'vault', labels: { protected: 'yes' } } });
    api.create('pods', pod('vault', 'secret', { spec: { nodeName: 'n1' } }));
    const podSelector = { matchLabels: { app: 'kept' } };
    create(cluster, 'EvictionPolicy', 'keep', { match: { podSelector }, action: 'Keep' });
    const namespaceSelector = { matchLabels: { protected: 'yes' } };
    create(cluster, 'EvictionPolicy', 'vault', {
      match: { namespaceSelector },
      action: 'Delete',
      defaultTolerationSeconds: 3600,
    });
    assert.deepEqual(await explained(), [
      'other | Evict | now | no toleration for bad:NoExecute',
      'secret | Evict | 1h | no toleration for bad:NoExecute, given 1h, by policy vault',
      'kept | Keep | - | kept in spite of bad:NoExecute, by policy keep',
    ]);
  });

  it('are paused as they are for the controller', async () => {
    create(cluster, 'EvictionPause', 'night', { reason: 'network maintenance' });
    const paused = 'deadlines are paused by night; no toleration for bad:NoExecute';
    assert.deepEqual(await explained(), [
      `other | Paused | now | ${paused}`,
      `secret | Paused | 1h | ${paused}, given 1h, by policy vault`,
      'kept | Keep | - | kept in spite of bad:NoExecute, by policy keep',
    ]);
  });
});
