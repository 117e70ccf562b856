import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { threeZones } from '../../src/topology.ts';
import { fixture, podNamed } from '../world/api-fixture.ts';
import { Client } from '../world/client.ts';
import { small, stored, virtualCluster } from '../world/virtual-cluster.ts';

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

  it('is left alone for five seconds, then pods go, and the rest when no pod is left', () => {
    const { api, pass } = virtualCluster();
    api.create('namespaces', { metadata: { name: 'n' } });
    const finalizers = ['example.com/held'];
    api.create('configmaps', { metadata: { name: 'c', namespace: 'n' } });
    api.create('pods', podNamed('p', {}, { namespace: 'n', finalizers }));
    api.delete('namespaces', '', 'n');
    pass(4900);
    assert.equal(api.list('pods', 'n')[0]?.metadata.deletionTimestamp, undefined);
    pass(200);
    assert.ok(api.list('pods', 'n')[0]?.metadata.deletionTimestamp);
    assert.equal(api.list('configmaps', 'n').length, 1);
    const said = (): readonly string[] =>
      (stored(api, 'namespaces', '', 'n').status.conditions ?? []).map(
        ({ type, status, message }: Readonly<Record<string, string>>) =>
          `${type} ${status} ${message}`,
      );
    assert.deepEqual(said().slice(2), [
      'NamespaceDeletionContentFailure False All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining True Some resources are remaining: pods. has 1 resource instances',
      'NamespaceFinalizersRemaining True Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances',
    ]);
    const { finalizers: _none, ...metadata } = stored(api, 'pods', 'n', 'p').metadata;
    api.update('pods', { ...stored(api, 'pods', 'n', 'p'), metadata });
    // It looks again 5 s after its status has changed.
    pass(5000);
    assert.equal(api.list('configmaps', 'n').length, 1);
    pass(1000);
    assert.equal(api.get('namespaces', '', 'n'), null);
  });

  it('says what should have gone and did not', () => {
    const { api, pass, untilIdle, cluster } = virtualCluster({ topology: small(['a']) });
    untilIdle();
    api.create('namespaces', { metadata: { name: 'n' } });
    api.create(
      'pods',
      podNamed('p', { nodeName: 'a-1', terminationGracePeriodSeconds: 1 }, { namespace: 'n' }),
    );
    pass(5000);
    cluster.node('a-1').stop();
    api.delete('namespaces', '', 'n');
    pass(20_000);
    const [, , failure] = stored(api, 'namespaces', '', 'n').status.conditions;
    assert.equal(failure.status, 'True');
    assert.equal(
      failure.message,
      'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods',
    );
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
