import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deployment,
  type KubeObject,
  type OwnerReference,
  type PlainServer,
  pod,
} from '@taintmgr/sim-cluster';
import { isTerminating } from '@taintmgr/sim-cluster/server';
// @boundaries-ignore the cluster's own tests live in the same world
import { Client } from '../../../sim-cluster/test/world/client.ts';
import { podsOf, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const ns = 'default';

function running() {
  const all = virtualCluster({ topology: small([]) });
  all.pass(1000);
  return { ...all, client: new Client(all.api) };
}

/** Serves a kind of a group; the plural is the kind in small letters and an s. */
function define(api: PlainServer, group: string, kind: string, scope = 'Namespaced'): string {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = ['v1', 'v1beta1'].map((name) => {
    return { name, served: true, storage: name === 'v1', schema };
  });
  api.create('customresourcedefinitions', {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { plural, kind }, versions },
  });
  return `${plural}.${group}`;
}

/** The reference to an owner, changed by `fields`. */
function by(owner: KubeObject, fields: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion = '', kind = '', metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', ...fields };
}

function named(name: string, ...ownerReferences: readonly OwnerReference[]): KubeObject {
  return { metadata: { name, namespace: ns, ownerReferences } };
}

const map = (api: PlainServer, name: string, ...owners: readonly OwnerReference[]): KubeObject =>
  api.create('configmaps', named(name, ...owners));

const isThere = (api: PlainServer, name: string): boolean =>
  api.get('configmaps', ns, name) !== null;

const foreground = { propagationPolicy: 'Foreground' } as const;

describe('an owner', () => {
  it('is found by the group of its kind', () => {
    const { api, pass } = running();
    const resource = define(api, 'apps.kruise.io', 'StatefulSet');
    pass(100);
    const owner = api.create(resource, named('web'));
    for (const name of ['web-0', 'web-1']) {
      const { metadata, spec } = pod(ns, name);
      const ownerReferences = [by(owner, { controller: true })];
      api.create('pods', { metadata: { ...metadata, ownerReferences }, spec });
    }
    api.delete('pods', ns, 'web-0');
    pass(10_000);
    assert.ok(api.get('pods', ns, 'web-1'));
    api.delete(resource, ns, 'web');
    pass(10_000);
    assert.equal(api.get('pods', ns, 'web-1'), null);
  });

  it('is found by any version that is served', () => {
    const { api, pass } = running();
    const resource = define(api, 'example.com', 'Widget');
    pass(100);
    const owner = api.create(resource, named('w'));
    map(api, 'a', by(owner, { apiVersion: 'example.com/v1beta1' }));
    pass(100);
    assert.ok(isThere(api, 'a'));
    api.delete(resource, ns, 'w');
    pass(100);
    assert.equal(isThere(api, 'a'), false);
  });

  it('of a kind that is not served keeps what it owns, whoever else is gone', () => {
    const { api, pass } = running();
    const owner = map(api, 'owner');
    const other = { apiVersion: 'example.com/v1', kind: 'constructor', name: 'x', uid: 'x' };
    map(api, 'a', other, by(owner));
    api.delete('configmaps', ns, 'owner');
    pass(60_000);
    assert.equal(stored(api, 'configmaps', ns, 'a').metadata.ownerReferences?.length, 2);
  });

  it('that never was, has another uid or is in another namespace is none', () => {
    const { api, pass } = running();
    const owner = map(api, 'owner');
    const elsewhere = api.create('configmaps', {
      metadata: { name: 'elsewhere', namespace: 'kube-system' },
    });
    map(api, 'of-none', by(owner, { name: 'never' }));
    map(api, 'of-another', by(owner, { uid: 'another' }));
    map(api, 'of-elsewhere', by(elsewhere));
    map(api, 'kept', by(owner));
    pass(100);
    const left = api.list('configmaps', ns).map(({ metadata }) => metadata.name);
    assert.deepEqual(left, ['kept', 'owner']);
  });
});

describe('a dependent', () => {
  const spec = deployment(ns, 'a', { replicas: 0 }).spec;
  const kinds: readonly (readonly [resource: string, body: object])[] = [
    ['configmaps', {}],
    ['deployments', { spec }],
    ['services', { spec: { ports: [{ port: 80 }] } }],
    ['leases', { spec: {} }],
    ['persistentvolumeclaims', { spec: {} }],
    ['gadgets.example.com', {}],
  ];
  for (const [resource, body] of kinds) {
    it(`goes with the custom resource that owns it, when it is one of ${resource}`, () => {
      const { api, pass } = running();
      const widgets = define(api, 'example.com', 'Widget');
      define(api, 'example.com', 'Gadget');
      pass(100);
      const owner = api.create(widgets, named('w'));
      api.create(resource, { ...named('a', by(owner)), ...body });
      pass(100);
      assert.ok(api.get(resource, ns, 'a'));
      api.delete(widgets, ns, 'w');
      pass(100);
      assert.equal(api.get(resource, ns, 'a'), null);
    });
  }

  it('without a namespace goes with an owner without one, and not with another', () => {
    const { api, pass } = running();
    const plants = define(api, 'example.com', 'Plant', 'Cluster');
    pass(100);
    const inNone = api.create(plants, { metadata: { name: 'p' } });
    const inOne = map(api, 'owner');
    for (const [name, owner] of [
      ['of-none', inNone],
      ['of-one', inOne],
    ] as const) {
      api.create('clusterroles', { metadata: { name, ownerReferences: [by(owner)] }, rules: [] });
    }
    api.delete(plants, '', 'p');
    api.delete('configmaps', ns, 'owner');
    pass(60_000);
    assert.equal(api.get('clusterroles', '', 'of-none'), null);
    assert.ok(api.get('clusterroles', '', 'of-one'));
  });

  it('of several owners forgets those that go, and goes with the last', () => {
    const { api, pass } = running();
    const [one, two] = [map(api, 'one'), map(api, 'two')];
    map(api, 'a', by(one), by(two));
    api.delete('configmaps', ns, 'one');
    pass(100);
    assert.deepEqual(stored(api, 'configmaps', ns, 'a').metadata.ownerReferences, [by(two)]);
    api.delete('configmaps', ns, 'two');
    pass(100);
    assert.equal(isThere(api, 'a'), false);
  });

  it('of owners that go at once goes with them', () => {
    const { api, pass } = running();
    const [one, two] = [map(api, 'one'), map(api, 'two')];
    map(api, 'a', by(one), by(two));
    for (const name of ['one', 'two']) api.delete('configmaps', ns, name);
    pass(100);
    assert.equal(isThere(api, 'a'), false);
  });
});

describe('a deletion in the foreground', () => {
  it('of a Deployment waits for its pods', () => {
    const workloads = [deployment(ns, 'web', { replicas: 2 })];
    const { api, pass, until, untilIdle } = virtualCluster({ topology: small(['a'], workloads) });
    untilIdle();
    const path = `/apis/apps/v1/namespaces/${ns}/deployments/web`;
    const { status } = new Client(api).delete(path, { body: foreground });
    assert.equal(status, 200);
    pass(500);
    assert.deepEqual(podsOf(api, 'web').map(isTerminating), [true, true]);
    const held = [...api.list('deployments'), ...api.list('replicasets')];
    assert.deepEqual(
      held.map(({ kind, metadata }) => `${kind} ${metadata.finalizers}`),
      ['Deployment foregroundDeletion', 'ReplicaSet foregroundDeletion'],
    );
    until(() => api.get('deployments', ns, 'web') === null, 'no Deployment');
    assert.deepEqual([...api.list('pods'), ...api.list('replicasets')], []);
  });

  /** An owner of `a`, which has a finalizer of somebody else. */
  function withHeld(fields: Partial<OwnerReference>, ...more: readonly OwnerReference[]) {
    const world = running();
    const { api } = world;
    const { metadata } = named('a', by(map(api, 'owner'), fields), ...more);
    api.create('configmaps', { metadata: { ...metadata, finalizers: ['example.com/held'] } });
    world.api.delete('configmaps', ns, 'owner', foreground);
    world.pass(100);
    return world;
  }

  it('waits for dependents that block it, and deletes the others all the same', () => {
    for (const blockOwnerDeletion of [true, false]) {
      const { api } = withHeld({ blockOwnerDeletion });
      assert.equal(isThere(api, 'owner'), blockOwnerDeletion);
      assert.ok(isTerminating(stored(api, 'configmaps', ns, 'a')));
    }
  });

  it('is over when the last dependent is given up', () => {
    const { api, pass } = withHeld({ blockOwnerDeletion: true });
    const { metadata } = stored(api, 'configmaps', ns, 'a');
    api.update('configmaps', { metadata: { ...metadata, ownerReferences: [] } });
    pass(100);
    assert.equal(isThere(api, 'owner'), false);
  });

  it('does not wait for what another owner keeps', () => {
    const { api, pass } = running();
    const [one, two] = [map(api, 'one'), map(api, 'two')];
    map(api, 'a', by(one, { blockOwnerDeletion: true }), by(two));
    api.delete('configmaps', ns, 'one', foreground);
    pass(100);
    assert.equal(isThere(api, 'one'), false);
    assert.deepEqual(stored(api, 'configmaps', ns, 'a').metadata.ownerReferences, [by(two)]);
  });

  it('ends where two own each other', () => {
    const { api, pass } = running();
    const one = map(api, 'one');
    const two = map(api, 'two', by(one, { blockOwnerDeletion: true }));
    const ownerReferences = [by(two, { blockOwnerDeletion: true })];
    api.update('configmaps', { metadata: { ...one.metadata, ownerReferences } });
    api.delete('configmaps', ns, 'one', foreground);
    pass(100);
    assert.deepEqual([isThere(api, 'one'), isThere(api, 'two')], [false, false]);
  });
});

it('a deletion that orphans leaves dependents of every kind, without that owner', () => {
  const { api, client, pass } = running();
  const owner = map(api, 'owner');
  map(api, 'a', by(owner));
  const path = `/api/v1/namespaces/${ns}/configmaps/owner`;
  client.delete(path, { body: { propagationPolicy: 'Orphan' } });
  pass(100);
  assert.equal(isThere(api, 'owner'), false);
  assert.equal(stored(api, 'configmaps', ns, 'a').metadata.ownerReferences, undefined);
});

it('Events stay when what they are about is gone, and all else does not', () => {
  const { api, pass } = running();
  const owner = map(api, 'owner');
  map(api, 'owned', by(owner));
  api.create('events', { ...named('said', by(owner)), involvedObject: { namespace: ns } });
  api.delete('configmaps', ns, 'owner');
  pass(60_000);
  assert.equal(isThere(api, 'owned'), false);
  assert.ok(api.get('events', ns, 'said'));
});
