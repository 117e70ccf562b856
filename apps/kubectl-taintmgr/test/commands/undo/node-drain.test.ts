// A NodeDrain that no controller undoes: this command takes back all that one would.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  evictionDefinition,
  evictionRequestDefinition,
  installDefinitions,
} from '@taintmgr/api-server';
import { type KubeObject, node } from '@taintmgr/sim-cluster';
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

describe('undo of a NodeDrain by somebody who may not do all that it takes', () => {
  const requests = 'evictionrequests.lifecycle.k8s.io';
  const drains = 'nodedrains.taintmgr.dev';
  const managers = 'taintmanagers.taintmgr.dev';
  const apiVersion = 'taintmgr.dev/v1alpha1';
  const lifecycle = { apiGroups: ['lifecycle.k8s.io'], resources: ['evictionrequests'] };
  const users = {
    // May not withdraw the request in namespace a.
    remover: [
      { apiGroups: ['taintmgr.dev'], resources: ['*'], verbs: ['*'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'patch'] },
      { ...lifecycle, verbs: ['get', 'list'] },
      { ...lifecycle, verbs: ['delete'], resourceNames: ['of-b', 'of-c'] },
    ],
    // As taintmgr-drainer, which leaves the rest to the controller.
    drainer: [
      { apiGroups: ['taintmgr.dev'], resources: ['nodedrains'], verbs: ['*'] },
      { apiGroups: ['taintmgr.dev'], resources: ['taintmanagers'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
    ],
  };

  describe('undo of a NodeDrain with few rights', () => {
    let cluster: TestCluster;
    before(async () => {
      cluster = await startWithDefinitions(users);
      await installDefinitions(cluster.api, [evictionRequestDefinition(), evictionDefinition()]);
      for (const name of ['a', 'b', 'c']) cluster.api.create('namespaces', { metadata: { name } });
      cluster.api.create('nodes', node('n1'));
    });
    after(() => cluster.stop());

    function given(name: string): void {
      const { api } = cluster;
      const made = api.create(drains, {
        ...{ apiVersion, kind: 'NodeDrain' },
        metadata: { name, finalizers: ['taintmgr.dev/undo-drain'] },
        spec: {
          nodes: ['n1'],
          taint: { key: 'maintenance' },
          pods: { evictBy: 'EvictionRequest' },
        },
      });
      const labels = { 'taintmgr.dev/nodedrain': made.metadata.uid ?? assert.fail() };
      for (const namespace of ['a', 'b', 'c']) {
        const target = { pod: { name: namespace, uid: namespace } };
        api.create(requests, {
          ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest' },
          metadata: { namespace, name: `of-${namespace}`, labels },
          spec: { target, requester: 'x.io/y', intent: 'Eviction' },
        });
      }
    }

    function comeAs(user: keyof typeof users | 'admin'): void {
      const path = join(cluster.directory, user);
      writeFileSync(path, readFileSync(cluster.kubeconfig, 'utf8').replace(/admin/g, user));
      process.env.KUBECONFIG = path;
    }

    const left = (): readonly string[] =>
      cluster.api.list(requests).map((one) => one.metadata.name);

    it('withdraws what it may, and keeps the drain for the rest', async () => {
      given('d1');
      comeAs('remover');
      const { code } = await run('undo', 'nodedrain/d1');
      assert.equal(code, 1);
      assert.deepEqual(left(), ['of-a']);
      assert.equal(cluster.api.list(drains).length, 1);
      cluster.api.delete(requests, 'a', 'of-a');
      assert.equal((await run('undo', 'nodedrain/d1')).code, 0);
      assert.equal(cluster.api.list(drains).length, 0);
    });

    it('keeps the drain for conditions of a node that it may not write', async () => {
      const { api } = cluster;
      api.create(drains, {
        ...{ apiVersion, kind: 'NodeDrain' },
        metadata: { name: 'd3', finalizers: ['taintmgr.dev/undo-drain'] },
        spec: { nodes: ['n2'], taint: { key: 'maintenance' }, nodeConditions: 'Publish' },
      });
      const made = api.create('nodes', node('n2'));
      const said = { status: 'True', reason: 'NodeDrain', message: 'NodeDrain d3' };
      const conditions = [{ type: 'MaintenancePlanned', ...said }];
      api.update('nodes', { ...made, status: { ...made.status, conditions } }, 'status');
      const statusOf = (): unknown => api.get('nodes', '', 'n2')?.status.conditions[0].status;
      comeAs('remover');
      const { code, err } = await run('undo', 'nodedrain/d3');
      assert.equal(code, 1);
      assert.match(
        err,
        /^Warning: conditions of node n2 are not taken back: .* "n2" is forbidden/m,
      );
      assert.match(
        err,
        /^hint: nodedrain\.taintmgr\.dev\/d3 stays until the rest is undone; run this command again then$/m,
      );
      assert.deepEqual([statusOf(), api.list(drains).length], ['True', 1]);
      comeAs('admin');
      assert.equal((await run('undo', 'nodedrain/d3')).code, 0);
      assert.deepEqual([statusOf(), api.list(drains).length], ['False', 0]);
    });

    it('dry runs where the controller will do what this user may not', async () => {
      given('d2');
      const renewTime = new Date().toISOString();
      const made = cluster.api.create(managers, {
        ...{ apiVersion, kind: 'TaintManager' },
        metadata: { name: 'taintmgr' },
      });
      const status = {
        ...{ leader: 'cp', renewTime, startTime: renewTime },
        ...{ controllers: ['node-drain-controller'], heartbeatPeriodSeconds: 60 },
      };
      cluster.api.update(managers, { ...made, status } as KubeObject, 'status');
      comeAs('drainer');
      const { code, err } = await run('undo', 'nodedrain/d2', '--dry-run=client');
      assert.match(err, /which EvictionRequests would be deleted is unknown/);
      assert.equal(code, 0);
      assert.equal(left().length, 3);
    });
  });
});
