// Custom resources in a cluster: loaded with their definitions, gone with their namespace.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, type KubeObject } from '@taintmgr/sim-cluster';
import { installDefinitions } from '../../src/crd/install.ts';
import { fixture } from '../world/api-fixture.ts';
import { virtualCluster } from '../world/virtual-cluster.ts';

const size = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
  },
};
const names = { plural: 'widgets', kind: 'Widget' };
const storeKey = 'widgets.example.com';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const version = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: size },
  ...more,
});
const definition = (...versions: readonly object[]): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: storeKey },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions },
});
const widget = (name: string, metadata: object = {}, more: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default', ...metadata },
  spec: {},
  ...more,
});

describe('a snapshot with custom resources', () => {
  it('is loaded whatever its order, and served at once', () => {
    const { api, client } = fixture();
    const report = api.load([widget('a', { uid: 'u-1' }), definition(version('v1'))]);
    assert.deepEqual(report.unloaded, []);
    const { status, body } = client.get(`${widgets}/a`);
    assert.equal(status, 200);
    assert.equal(body.metadata.uid, 'u-1');
    // What the schema says holds for what was loaded, too.
    assert.equal(body.spec.size, 3);
  });

  it('says of a custom resource without its definition that it is not served', () => {
    const { api } = fixture();
    const [unloaded] = api.load([widget('a')]).unloaded;
    assert.equal(unloaded?.reason, 'example.com/v1 Widget is not served');
  });

  it('keeps the status of a definition that has one', () => {
    const { api, client } = fixture();
    const lastTransitionTime = '2020-01-01T00:00:00Z';
    const conditions = ['NamesAccepted', 'Established'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime,
      reason: 'X',
      message: '',
    }));
    const status = { acceptedNames: names, storedVersions: ['v0', 'v1'], conditions };
    api.load([{ ...definition(version('v1')), status }]);
    const { body } = client.get(`${definitions}/${storeKey}`);
    assert.deepEqual(body.status.storedVersions, ['v0', 'v1']);
    assert.equal(body.status.conditions[1].lastTransitionTime, lastTransitionTime);
  });
});

describe('a definition', () => {
  it('is served after a moment, and not before', () => {
    const { client, pass } = fixture();
    assert.equal(client.post(definitions, definition(version('v1'))).status, 201);
    assert.equal(client.get(widgets).status, 404);
    pass(50);
    assert.equal(client.get(widgets).status, 200);
  });

  it('has columns of the version that is asked for', () => {
    const { client, pass } = fixture();
    const schema = (field: string, value: string): object => {
      const properties = { [field]: { type: 'string', default: value } };
      const spec = { type: 'object', properties };
      return { openAPIV3Schema: { type: 'object', properties: { spec } } };
    };
    const column = { name: 'New', type: 'string', jsonPath: '.spec.new' };
    const versions = [
      version('v1', { schema: schema('old', 'a') }),
      version('v2', {
        storage: false,
        schema: schema('new', 'b'),
        additionalPrinterColumns: [column],
      }),
    ];
    client.post(definitions, definition(...versions));
    pass(50);
    client.post(widgets, widget('a'));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = client.get(widgets.replace('/v1/', '/v2/'), { headers: { accept } });
    assert.deepEqual(JSON.parse(table.text).rows[0].cells, ['a', 'b']);
  });

  it('may store a version that it does not serve', () => {
    const { client, pass } = fixture();
    const old = version('v1', { served: false });
    client.post(definitions, definition(old, version('v2', { storage: false })));
    pass(50);
    const path = widgets.replace('v1', 'v2');
    const created = client.post(path, { ...widget('a'), apiVersion: 'example.com/v2' });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.body.apiVersion, 'example.com/v2');
    assert.equal(client.get(widgets).status, 404);
  });

  it('notes the version that an object was written in, and warns by the newest', () => {
    const { client, pass } = fixture();
    const old = version('v1beta1', { storage: false, deprecated: true });
    const newer = version('v10', { storage: false });
    client.post(definitions, definition(version('v1'), old, newer));
    pass(50);
    const created = client.post(widgets.replace('v1', 'v10'), {
      ...widget('a'),
      apiVersion: 'example.com/v10',
    });
    assert.equal(created.body.metadata.managedFields?.[0]?.apiVersion, 'example.com/v10');
    const { headers } = client.get(widgets.replace('v1', 'v1beta1'));
    const text = 'example.com/v1beta1 Widget is deprecated; use example.com/v10 Widget';
    assert.equal(headers.warning, `299 - "${text}"`);
  });

  it('is described by discovery in the order of the real server, a version unserved as text', () => {
    const { client, pass } = fixture();
    client.post(definitions, definition(version('v1')));
    pass(50);
    const { body } = client.get('/apis/example.com/v1');
    const verbs = 'delete deletecollection get list patch create update watch';
    assert.equal(body.resources[0].verbs.join(' '), verbs);
    assert.equal(client.get('/apis/example.com/v2').text, '404 page not found\n');
  });

  it('has no owner for the status that it is given, and no grace period when it is deleted', () => {
    const { client, pass } = fixture();
    const { body } = client.post(definitions, definition(version('v1')));
    const [owner] = body.metadata.managedFields ?? [];
    assert.deepEqual(Object.keys(owner?.fieldsV1 ?? {}), ['f:spec']);
    pass(50);
    client.post(widgets, widget('a', { finalizers: ['example.com/f'] }));
    const deleted = client.delete(`${definitions}/${storeKey}`);
    assert.equal(deleted.body.metadata.deletionGracePeriodSeconds, undefined);
  });

  it('is not asked for its name again when it is changed', () => {
    const { client, pass } = fixture();
    client.post(definitions, definition(version('v1')));
    pass(50);
    const { body } = client.patch(`${definitions}/${storeKey}`, { spec: { group: 'example.org' } });
    const fields = body.details.causes.map(({ field }: { readonly field: string }) => field);
    assert.deepEqual(fields, ['spec.group']);
  });

  it('keeps null among the words of an enum', () => {
    const { client } = fixture();
    const spec = { type: 'string', nullable: true, enum: [null, 'a'] };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const { body } = client.post(definitions, definition(version('v1', { schema })));
    const stored = body.spec.versions[0].schema.openAPIV3Schema.properties.spec;
    assert.deepEqual(stored.enum, [null, 'a']);
  });

  it('has its status judged on its own, and its replicas counted', () => {
    const { client, pass } = fixture();
    const spec = { type: 'object', properties: { replicas: { type: 'integer' } } };
    const status = { type: 'object', properties: { at: { type: 'string' } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status } } };
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const subresources = { status: {}, scale };
    client.post(definitions, definition(version('v1', { schema, subresources })));
    pass(50);
    client.post(widgets, widget('a'));
    const refused = client.patch(`${widgets}/a/status`, { status: { at: 1 } });
    assert.match(
      refused.text,
      /status.at: Invalid value: \\"integer\\": at in body must be of type/,
    );
    const negative = client.patch(`${widgets}/a`, { spec: { replicas: -1 } });
    const text = '.spec.replicas: Invalid value: -1: should be a non-negative integer';
    assert.ok(negative.body.message.endsWith(text), negative.body.message);
  });

  it('ends the watches of its resource a second after it was changed', () => {
    const { client, pass } = fixture();
    client.post(definitions, definition(version('v1')));
    pass(50);
    const watch = client.watch(widgets);
    pass(5000);
    assert.equal(watch.response().ended, false);
    client.patch(`${definitions}/${storeKey}`, { spec: { names: { shortNames: ['w'] } } });
    pass(900);
    assert.equal(watch.response().ended, false);
    pass(200);
    assert.equal(watch.response().ended, true);
  });

  it('that its status makes invalid can be changed again once that is put right', () => {
    const { client, pass } = fixture();
    client.post(definitions, definition(version('v1')));
    pass(50);
    const path = `${definitions}/${storeKey}`;
    const stored = (versions: readonly string[]) =>
      client.patch(`${path}/status`, { status: { storedVersions: versions } }).status;
    assert.equal(stored(['v9', 'v1']), 200);
    const label = { metadata: { labels: { a: 'b' } } };
    assert.equal(client.patch(path, label).status, 422);
    assert.equal(stored(['v1']), 200);
    assert.equal(client.patch(path, label).status, 200);
  });
});

it('custom resources go with their namespace', () => {
  const { api, pass } = virtualCluster();
  api.load([definition(version('v1'))]);
  api.create('namespaces', { metadata: { name: 'n' } });
  api.create(storeKey, widget('a', { namespace: 'n' }));
  api.create(storeKey, widget('b'));
  api.delete('namespaces', '', 'n');
  pass(30_000);
  assert.equal(api.get('namespaces', '', 'n'), null);
  assert.deepEqual(
    api.list(storeKey).map(({ metadata }) => metadata.name),
    ['b'],
  );
});

it('definitions are installed when all of them are served', async () => {
  const { cluster, clock } = virtualCluster();
  const { api } = cluster;
  const installed = installDefinitions(api, [definition(version('v1'))]);
  assert.throws(() => api.list(storeKey), /no resource is stored/);
  clock.advanceTo(clock.now() + 100);
  await installed;
  assert.deepEqual(api.list(storeKey), []);
  await assert.rejects(installDefinitions(api, [definition(version('v1'))]), ApiError);
});

it('a load takes null among the values that a definition allows', () => {
  const a = { type: 'string', nullable: true, enum: ['x', null] };
  const openAPIV3Schema = { type: 'object', properties: { a } };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  const names = { plural: 'widgets', kind: 'Widget' };
  const { loaded } = fixture().api.load([
    {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    },
  ]);
  assert.equal(loaded, 1);
});
