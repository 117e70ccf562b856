// What a client sees of the objects of a definition: embedded objects, repeated members, scale, apply by key.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import type { Response } from '../../../sim-cluster/test/world/client.ts';
import { type Fixture, fixture } from '../world/api-fixture.ts';

const text = { type: 'string' };
const ports = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol'],
  items: {
    type: 'object',
    required: ['port'],
    properties: { port: { type: 'integer' }, protocol: { ...text, default: 'UDP' }, name: text },
  },
};
const embedded = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
const spec = {
  type: 'object',
  properties: { size: { type: 'integer', maximum: 10 }, ports, template: embedded },
};
const status = {
  type: 'object',
  properties: { phase: text, size: { type: 'integer' }, selector: text },
};
const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.size',
            statusReplicasPath: '.status.size',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
};

const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const merge = 'application/merge-patch+json';

function world(): Fixture {
  const made = fixture();
  made.client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  made.pass(50);
  return made;
}

const widget = (name: string, given: object, metadata: object = {}): KubeObject =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec: given,
  }) as unknown as KubeObject;

const fields = ({ body }: Response): readonly string[] =>
  (body.details?.causes ?? []).map(
    ({ field, message }: { field: string; message: string }) => `${field}: ${message}`,
  );

const templates: readonly (readonly [string, object, readonly string[]])[] = [
  ['with kind and version', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'A_' } }, []],
  [
    'without them',
    {},
    ['spec.template.apiVersion: Required value', 'spec.template.kind: Required value'],
  ],
  [
    'with odd ones',
    { apiVersion: 'a/b/c', kind: '' },
    [
      'spec.template.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.template.kind: Invalid value: "": must not be empty',
    ],
  ],
  [
    'with a name that is no part of a path',
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a/b' } },
    [`spec.template.metadata.name: Invalid value: "a/b": may not contain '/'`],
  ],
];

for (const [name, template, expected] of templates) {
  test(`an embedded object ${name}: ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    const made = world().client.post(widgets, widget('a', { template }));
    assert.deepEqual(fields(made), expected);
    assert.equal(made.status, expected.length === 0 ? 201 : 422);
  });
}

test('metadata of an embedded object has the members of metadata, and keeps all of them', () => {
  const { client } = world();
  const metadata = { name: 'a', labels: { a: 'b' }, odd: 1 };
  const template = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { any: 1 } };
  const made = client.post(widgets, widget('a', { template }));
  assert.equal(made.headers.warning, '299 - "unknown field \\"spec.template.metadata.odd\\""');
  assert.deepEqual(made.body.spec.template, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: { a: 'b' }, name: 'a' },
    spec: { any: 1 },
  });
});

test('members that a body has twice are warned of, or refused', () => {
  const { client } = world();
  const twice = JSON.stringify(widget('a', { size: 1, ports: [{ port: 1, name: 'x' }] }))
    .replace('"size":1', '"size":1,"size":2')
    .replace('"name":"x"', '"name":"x","name":"y"');
  const warning =
    '299 - "duplicate field \\"spec.size\\"", 299 - "duplicate field \\"spec.ports[0].name\\""';
  const made = client.post(widgets, twice);
  assert.deepEqual([made.status, made.headers.warning, made.body.spec.size], [201, warning, 2]);
  const strict = client.post(`${widgets}?fieldValidation=Strict`, twice);
  assert.equal(
    strict.body.message,
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "spec.size", duplicate field "spec.ports[0].name"',
  );
  const ignored = client.post(`${widgets}?fieldValidation=Ignore&dryRun=All`, twice);
  assert.equal(ignored.headers.warning, undefined);
});

test('options that make no sense are refused before the object is looked at', () => {
  const { client } = world();
  const refused = client.post(
    `${widgets}?fieldValidation=Maybe&fieldManager=a%0Ab`,
    widget('a', {}),
  );
  assert.deepEqual(fields(refused), [
    'fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
    'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
  ]);
  const long = client.post(`${widgets}?fieldManager=${'a'.repeat(129)}`, widget('a', {}));
  assert.deepEqual(fields(long), ['fieldManager: Too long: may not be more than 128 bytes']);
});

test('a new finalizer without a path is warned of, once', () => {
  const { client } = world();
  const made = client.post(widgets, widget('a', {}, { finalizers: ['odd', 'example.com/good'] }));
  assert.match(made.headers.warning ?? '', /finalizers: \\"odd\\": prefer a domain-qualified/);
  const next = client.patch(`${widgets}/a`, { spec: { size: 1 } }, merge);
  assert.deepEqual([next.status, next.headers.warning], [200, undefined]);
});

test('a patch cannot change kind or version', () => {
  const { client } = world();
  client.post(widgets, widget('a', {}));
  const kind = client.patch(`${widgets}/a`, { kind: 'Gadget' }, merge);
  assert.deepEqual(fields(kind), ['kind: Invalid value: "Gadget": must be Widget']);
  const version = client.patch(`${widgets}/a`, { apiVersion: 'example.com/v9' }, merge);
  assert.match(version.body.message, /request to convert CR to an invalid group\/version/);
});

test('the scale is where the definition says it is', () => {
  const { client } = world();
  client.post(widgets, widget('a', { size: 2 }));
  client.patch(`${widgets}/a/status`, { status: { size: 1, selector: 'a=b' } }, merge);
  const scale = client.get(`${widgets}/a/scale`).body;
  assert.deepEqual([scale.spec, scale.status], [{ replicas: 2 }, { replicas: 1, selector: 'a=b' }]);
  assert.equal(client.put(`${widgets}/a/scale`, { ...scale, spec: { replicas: 4 } }).status, 200);
  assert.equal(client.put(`${widgets}/a/scale`, { ...scale, spec: { replicas: 5 } }).status, 409);
  const scaled = client.patch(`${widgets}/a/scale`, { spec: { replicas: 6 } }, merge);
  assert.deepEqual(scaled.body.spec, { replicas: 6 });
  const stored = client.get(`${widgets}/a`).body;
  assert.deepEqual([stored.spec.size, stored.metadata.generation], [6, 3]);
  const tooMany = client.patch(`${widgets}/a/scale`, { spec: { replicas: 11 } }, merge);
  assert.deepEqual(fields(tooMany), [
    'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10',
  ]);
  client.patch(`${widgets}/a`, { spec: { size: null } }, merge);
  assert.equal(
    client.get(`${widgets}/a/scale`).body.message,
    'Internal error occurred: the spec replicas field ".spec.size" does not exist',
  );
  assert.equal(
    client.post(`${widgets}/a/scale`, scale).body.message,
    'create is not supported on resources of kind "widgets.example.com"',
  );
});

const apply = ({ client }: Fixture, manager: string, object: object, path = ''): Response =>
  client.patch(
    `${widgets}/a${path}?fieldManager=${manager}`,
    { ...widget('a', {}), ...object },
    'application/apply-patch+yaml',
  );

test('items are applied by their keys, of which some have defaults', () => {
  const made = world();
  apply(made, 'one', { spec: { ports: [{ port: 1, name: 'x' }] } });
  const second = apply(made, 'two', { spec: { ports: [{ port: 1, protocol: 'TCP' }] } });
  assert.deepEqual(second.body.spec.ports, [
    { name: 'x', port: 1, protocol: 'UDP' },
    { port: 1, protocol: 'TCP' },
  ]);
  const refused = apply(made, 'two', { spec: { ports: [{ port: 1, name: 'y' }] } });
  assert.match(refused.body.message, /conflict with "one": \.spec\.ports\[port=1,protocol="UDP"\]/);
  const less = apply(made, 'one', { spec: {} });
  assert.deepEqual(less.body.spec.ports, [{ port: 1, protocol: 'TCP' }]);
  const entry = second.body.metadata.managedFields?.find(({ manager }) => manager === 'one');
  assert.deepEqual(Object.keys(entry?.fieldsV1?.['f:spec']?.['f:ports'] ?? {}), [
    'k:{"port":1,"protocol":"UDP"}',
  ]);
});

test('who applies a status through the object owns nothing of it', () => {
  const made = world();
  apply(made, 'one', { status: { phase: 'A' } });
  const written = apply(made, 'two', { status: { phase: 'B' }, spec: { size: 9 } }, '/status');
  assert.deepEqual([written.status, written.body.status.phase], [200, 'B']);
  const owners = written.body.metadata.managedFields?.map(({ manager, fieldsV1 }) => [
    manager,
    Object.keys(fieldsV1 ?? {}),
  ]);
  // What is applied has an empty spec.
  assert.deepEqual(owners, [
    ['one', ['f:spec']],
    ['two', ['f:status']],
  ]);
});

test('items that are there twice since before the list was a map may stay', () => {
  const { client, pass } = world();
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const path = `${definitions}/widgets.example.com`;
  const at = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/ports';
  const atomic = {
    type: 'array',
    items: { type: 'object', properties: { port: { type: 'integer' } } },
  };
  const set = (value: object): number =>
    client.patch(path, [{ op: 'replace', path: at, value }], 'application/json-patch+json').status;
  assert.equal(set(atomic), 200);
  pass(50);
  client.post(widgets, widget('a', { ports: [{ port: 1 }, { port: 1 }] }));
  assert.equal(set(ports), 200);
  pass(50);
  const grown = client.patch(`${widgets}/a`, { spec: { size: 1 } }, merge);
  assert.deepEqual([grown.status, grown.body.spec.ports.length], [200, 2]);
  const made = client.post(widgets, widget('b', { ports: [{ port: 1 }, { port: 1 }] }));
  assert.deepEqual(fields(made), ['spec.ports[1]: Duplicate value: {"port":1,"protocol":"UDP"}']);
});
