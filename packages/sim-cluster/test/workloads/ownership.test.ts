import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { daemonSet, deployment, job, pod, statefulSet } from '../../src/builders.ts';
import { controllerOf } from '../../src/controllers/pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { podsOf, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const zones = ['a', 'b', 'c'];

const uidsOf = (api: PlainServer, app: string): readonly string[] =>
  podsOf(api, app)
    .map(({ metadata }) => metadata.uid ?? '')
    .sort();

const setLabels = (api: PlainServer, object: KubeObject, labels: Record<string, string>): void => {
  api.update('pods', { ...object, metadata: { ...object.metadata, labels } });
};

describe('a workload that is made again after its deletion has left its pods', () => {
  const workloads: readonly (readonly [resource: string, given: KubeObject])[] = [
    ['deployments', deployment('default', 'web', { replicas: 2 })],
    ['replicasets', { ...deployment('default', 'web', { replicas: 2 }), kind: 'ReplicaSet' }],
    ['statefulsets', statefulSet('default', 'web', { replicas: 2 })],
    ['daemonsets', daemonSet('default', 'web')],
  ];
  for (const [resource, given] of workloads) {
    it(`adopts them: ${resource}`, () => {
      const { api, pass, untilIdle } = virtualCluster({ topology: small(zones) });
      untilIdle();
      const made = api.create(resource, given);
      untilIdle();
      const before = uidsOf(api, 'web');
      const known = stored(api, resource, 'default', 'web');
      api.update(resource, { ...known, metadata: { ...known.metadata, finalizers: ['orphan'] } });
      api.delete(resource, 'default', 'web');
      pass(1000);
      assert.equal(api.get(resource, 'default', 'web'), null);
      const { uid } = api.create(resource, given).metadata;
      untilIdle();
      assert.notEqual(uid, made.metadata.uid);
      assert.deepEqual(uidsOf(api, 'web'), before);
      const adopted = resource === 'deployments' ? api.list('replicasets') : podsOf(api, 'web');
      const { apiVersion = '', kind = '' } = made;
      const owner = {
        apiVersion,
        kind,
        name: 'web',
        uid,
        controller: true,
        blockOwnerDeletion: true,
      };
      assert.deepEqual(
        adopted.map(({ metadata }) => metadata.ownerReferences),
        adopted.map(() => [owner]),
      );
    });
  }
});

describe('a ReplicaSet', () => {
  const start = () => {
    const running = virtualCluster({
      topology: small(zones, [deployment('default', 'web', { replicas: 2 })]),
    });
    running.untilIdle();
    const [first] = podsOf(running.api, 'web');
    assert.ok(first);
    return { ...running, first };
  };

  it('releases a pod whose labels it does not select, and has another one in its place', () => {
    const { api, untilIdle, first } = start();
    setLabels(api, first, { app: 'debug' });
    untilIdle();
    const [released] = podsOf(api, 'debug');
    assert.deepEqual(released?.metadata.ownerReferences ?? [], []);
    assert.equal(podsOf(api, 'web').length, 2);
  });

  it('adopts a pod that gets its labels, and has one too many then', () => {
    const { api, untilIdle, first } = start();
    const labels = { ...first.metadata.labels };
    setLabels(api, first, { app: 'debug' });
    untilIdle();
    const [released] = podsOf(api, 'debug');
    assert.ok(released);
    setLabels(api, released, labels);
    untilIdle();
    assert.deepEqual(
      podsOf(api, 'web').map(({ metadata }) => controllerOf({ metadata })?.kind),
      ['ReplicaSet', 'ReplicaSet'],
    );
  });

  it('has another pod in the place of one that somebody takes away from it', () => {
    const { api, untilIdle, first } = start();
    const metadata = { ...first.metadata, labels: { app: 'debug' }, ownerReferences: [] };
    api.update('pods', { ...first, metadata });
    untilIdle();
    assert.equal(podsOf(api, 'web').length, 2);
  });

  it('does not release the pod of an earlier one of its name', () => {
    const { api, pass } = virtualCluster({ without: ['garbageCollection', 'scheduler'] });
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'earlier' };
    const ownerReferences = [{ ...owner, controller: true }];
    api.create('replicasets', { ...deployment('default', 'web'), kind: 'ReplicaSet' });
    const { metadata, ...rest } = pod('default', 'old');
    const { name } = api.create('pods', {
      ...rest,
      metadata: { ...metadata, ownerReferences },
    }).metadata;
    const old = stored(api, 'pods', 'default', name);
    setLabels(api, old, { app: 'other' });
    pass(5000);
    const { ownerReferences: kept } = stored(api, 'pods', 'default', name).metadata;
    assert.deepEqual(kept, old.metadata.ownerReferences);
  });

  const others: readonly (readonly [what: string, change: object])[] = [
    ['in another namespace', { namespace: 'kube-system' }],
    ['that ends', { finalizers: ['example.com/kept'] }],
    ['that somebody else controls', { ownerReferences: [ownerOf('Thing')] }],
  ];
  for (const [what, change] of others) {
    it(`does not adopt a pod ${what}`, () => {
      const { api, pass, first } = start();
      const given = pod('default', 'bare', { labels: { app: 'bare' } });
      const bare = api.create('pods', { ...given, metadata: { ...given.metadata, ...change } });
      const { namespace = '', ownerReferences } = bare.metadata;
      pass(5000);
      if ('finalizers' in change) api.delete('pods', namespace, 'bare');
      setLabels(api, stored(api, 'pods', namespace, 'bare'), { ...first.metadata.labels });
      pass(5000);
      const { metadata } = stored(api, 'pods', namespace, 'bare');
      assert.deepEqual(metadata.ownerReferences, ownerReferences);
    });
  }
});

function ownerOf(kind: string): object {
  return { apiVersion: 'v1', kind, name: 'x', uid: 'x', controller: true };
}

it('a StatefulSet adopts only pods with its names', () => {
  const set = statefulSet('default', 'db', { replicas: 2 });
  const { api, untilIdle } = virtualCluster({ topology: small(zones) });
  untilIdle();
  const labels = { app: 'db' };
  for (const name of ['db-1', 'db-x', 'db', 'other-0']) {
    api.create('pods', pod('default', name, { labels }));
  }
  api.create('statefulsets', set);
  untilIdle();
  const owned = podsOf(api, 'db').flatMap(({ metadata }) =>
    controllerOf({ metadata }) ? [metadata.name] : [],
  );
  assert.deepEqual(owned, ['db-0', 'db-1']);
  const names = podsOf(api, 'db').map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['db', 'db-0', 'db-1', 'db-x', 'other-0']);
});

it('a Job adopts a pod with its mark', () => {
  const given = job('default', 'report', 600);
  const { api, until, untilIdle } = virtualCluster({ topology: small(zones, [given]) });
  untilIdle();
  const [first] = podsOf(api, 'report');
  assert.ok(first);
  api.update('pods', { ...first, metadata: { ...first.metadata, ownerReferences: [] } });
  until(() => controllerOf(podsOf(api, 'report')[0] ?? first) !== null, 'its owner');
  assert.deepEqual(uidsOf(api, 'report'), [first.metadata.uid]);
});

describe('a workload that is being deleted', () => {
  const workloads: readonly (readonly [resource: string, given: KubeObject])[] = [
    ['replicasets', { ...deployment('default', 'web', { replicas: 2 }), kind: 'ReplicaSet' }],
    ['statefulsets', statefulSet('default', 'web', { replicas: 2 })],
    ['daemonsets', daemonSet('default', 'web')],
    ['jobs', job('default', 'web', 600)],
  ];
  for (const [resource, given] of workloads) {
    it(`makes no pods and adopts none: ${resource}`, () => {
      const { api, pass, untilIdle } = virtualCluster({
        topology: small(zones),
        without: ['garbageCollection'],
      });
      untilIdle();
      const metadata = { ...given.metadata, finalizers: ['example.com/kept'] };
      api.create(resource, { ...given, metadata });
      untilIdle();
      api.delete(resource, 'default', 'web');
      const [gone = assert.fail(), ...others] = podsOf(api, 'web');
      api.delete('pods', 'default', gone.metadata.name);
      pass(10_000);
      const name = resource === 'statefulsets' ? gone.metadata.name : 'bare';
      api.create('pods', pod('default', name, { labels: { ...gone.metadata.labels } }));
      pass(10_000);
      assert.equal(controllerOf(stored(api, 'pods', 'default', name)), null);
      assert.equal(podsOf(api, 'web').length, others.length + 1);
    });
  }
});
