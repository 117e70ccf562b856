import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { threeZones } from '../../src/topology.ts';
import { fixture, podNamed } from '../world/api-fixture.ts';
import { Client } from '../world/client.ts';
import { stored, virtualCluster } from '../world/virtual-cluster.ts';

describe('a namespace that is deleted', () => {
  it('is emptied, pods after their grace, and then gone', () => {
    const { api, untilIdle, until } = virtualCluster({ topology: threeZones });
    untilIdle();
    const order: string[] = [];
    api.subscribe(({ type, resource, object }) => {
      if (type === 'DELETED') order.push(`${resource} ${object.metadata.namespace ?? ''}`);
    });
    api.delete('namespaces', '', 'shop');
    until(() => api.get('namespaces', '', 'shop') === null, 'the namespace is gone');
    assert.equal(order.at(-1), 'namespaces ');
    assert.equal(order.filter((entry) => entry === 'pods shop').length, 14);
    assert.equal(order.filter((entry) => entry.endsWith('infra')).length, 0);
    untilIdle();
    assert.deepEqual(api.list('pods', 'shop'), []);
    assert.ok(api.list('pods', 'infra').length > 0);
  });

  it('waits for what a finalizer holds, and for finalizers of its own', () => {
    const { api, pass } = virtualCluster();
    const finalizers = ['example.com/held'];
    const created = api.create('namespaces', { metadata: { name: 'held' } });
    const spec = { finalizers: ['kubernetes', ...finalizers] };
    api.update('namespaces', { ...created, spec }, 'finalize');
    api.create('pods', podNamed('p', {}, { namespace: 'held', finalizers }));
    api.delete('namespaces', '', 'held');
    pass(60_000);
    const held = stored(api, 'pods', 'held', 'p');
    const { finalizers: _none, ...metadata } = held.metadata;
    api.update('pods', { ...held, metadata });
    pass(60_000);
    assert.deepEqual(api.list('pods', 'held'), []);
    const namespace = stored(api, 'namespaces', '', 'held');
    assert.deepEqual(namespace.spec.finalizers, finalizers);
    api.update('namespaces', { ...namespace, spec: { finalizers: [] } }, 'finalize');
    assert.equal(api.get('namespaces', '', 'held'), null);
  });

  it('is found by a cluster that starts later', () => {
    const { api, cluster, until } = virtualCluster();
    cluster.stop();
    api.create('namespaces', { metadata: { name: 'old' } });
    api.create('leases', { metadata: { name: 'l', namespace: 'old' }, spec: {} });
    api.delete('namespaces', '', 'old');
    cluster.start();
    until(() => api.get('namespaces', '', 'old') === null, 'the namespace is gone');
  });

  it('stays where only the API server works, unless nothing holds it', () => {
    const { api } = fixture();
    const client = new Client(api);
    api.create('namespaces', { metadata: { name: 'a' } });
    assert.equal(client.delete('/api/v1/namespaces/a').body.status.phase, 'Terminating');
    assert.ok(api.get('namespaces', '', 'a'));
    api.load([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'b' }, spec: {} }]);
    assert.equal(client.delete('/api/v1/namespaces/b').status, 200);
    assert.equal(api.get('namespaces', '', 'b'), null);
  });
});
