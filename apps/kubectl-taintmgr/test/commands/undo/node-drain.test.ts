// A NodeDrain that no controller undoes: this command takes back all that one would.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  evictionDefinition,
  evictionRequestDefinition,
  installDefinitions,
} from '@taintmgr/api-server';
import { node } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster, versions } from '../../world/test-cluster.ts';

const requests = 'evictionrequests.lifecycle.k8s.io';

describe('undo of a NodeDrain that nobody carries out', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const definitions = [evictionRequestDefinition(), evictionDefinition()];
    await installDefinitions(cluster.api, definitions);
    cluster.api.create('namespaces', { metadata: { name: 'shop' } });
  });
  after(() => cluster.stop());

  /** A drain, an EvictionRequest of its own and one of somebody else, and what it says on a node. */
  function given(name: string, spec: object): void {
    const { api } = cluster;
    const made = api.create('nodedrains.taintmgr.dev', {
      ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain' },
      metadata: { name, finalizers: ['taintmgr.dev/undo-drain'] },
      spec: { nodes: [name], taint: { key: 'maintenance' }, ...spec },
    });
    for (const [request, uid] of [
      [`of-${name}`, made.metadata.uid ?? assert.fail()],
      [`not-of-${name}`, 'another'],
    ] as const) {
      api.create(requests, {
        ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest' },
        metadata: { namespace: 'shop', name: request, labels: { 'taintmgr.dev/nodedrain': uid } },
        spec: { target: { pod: { name, uid: name } }, requester: 'x.io/y', intent: 'Eviction' },
      });
    }
    const ours = { status: 'True', reason: 'NodeDrain', message: `NodeDrain ${name}` };
    const conditions = [
      { type: 'MaintenancePlanned', ...ours },
      { type: 'DrainInProgress', ...ours, message: 'NodeDrain of somebody else' },
    ];
    const created = api.create('nodes', node(name));
    api.update('nodes', { ...created, status: { ...created.status, conditions } }, 'status');
  }

  const left = (name: string) => {
    const { api } = cluster;
    const conditions: readonly Record<string, string>[] =
      api.get('nodes', '', name)?.status.conditions ?? [];
    return {
      requests: api
        .list(requests)
        .map(({ metadata }) => metadata.name)
        .filter((one) => one.endsWith(name)),
      conditions: conditions.map(({ type, status }) => `${type}=${status}`),
    };
  };
  const both = { pods: { evictBy: 'EvictionRequest' }, nodeConditions: 'Publish' };

  it('withdraws its EvictionRequests, and says of nodes no more how far it is', async () => {
    given('n1', both);
    const unchanged = versions(cluster.api);
    const dry = await run('undo', 'nodedrain/n1', '--dry-run=client');
    assert.equal(
      dry.out,
      'nodedrain.taintmgr.dev/n1 deleted (dry run)\n' +
        'evictionrequest.lifecycle.k8s.io/of-n1 deleted (shop, dry run)\n' +
        'node/n1 MaintenancePlanned: False (dry run)\n',
    );
    assert.deepEqual(versions(cluster.api), unchanged);
    const { code, out } = await run('undo', 'nodedrain/n1');
    assert.equal(code, 0, out);
    assert.match(out, /^evictionrequest\.lifecycle\.k8s\.io\/of-n1 deleted \(shop\)$/m);
    assert.deepEqual(left('n1'), {
      requests: ['not-of-n1'],
      conditions: ['MaintenancePlanned=False', 'DrainInProgress=True'],
    });
    assert.equal(cluster.api.list('nodedrains.taintmgr.dev').length, 0);
  });

  it('looks for neither where the drain makes none', async () => {
    given('n2', {});
    const before = left('n2');
    const asked = cluster.answers.length;
    assert.equal((await run('undo', 'nodedrain/n2')).code, 0);
    assert.deepEqual(left('n2'), before);
    assert.ok(!cluster.answers.slice(asked).some((line) => line.includes('evictionrequests')));
  });
});
