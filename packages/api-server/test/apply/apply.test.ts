import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import {
  applyType,
  type Client,
  merge,
  strategic,
} from '../../../sim-cluster/test/world/client.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

const as = (fieldManager: string) => ({ query: { fieldManager } });
const node = `${nodes}/n1`;

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly time: string;
}

function entriesOf(object: KubeObject): readonly Entry[] {
  return (object.metadata.managedFields ?? []) as unknown as readonly Entry[];
}

function apply(client: Client, manager: string, labels: object) {
  const configuration = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels } };
  return client.patch(node, configuration, applyType, as(manager));
}

function owners(client: Client): readonly (readonly unknown[])[] {
  const entries = (client.get(node).body.metadata.managedFields ?? []) as unknown;
  return (entries as readonly Entry[]).map(({ manager, operation, subresource, time }) => {
    return [manager, operation, subresource ?? '', time.slice(17, 19)];
  });
}

const described = { apiVersion: 'v1', kind: 'Node' };

describe('an apply', () => {
  it('takes away what its manager applied before, and not what he has written otherwise', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1', labels: { written: '1' } } }, as('m'));
    apply(client, 'm', { first: '1' });
    apply(client, 'm', { second: '1' });
    const { labels = {} } = client.get(node).body.metadata;
    assert.deepEqual([labels.written, labels.first, labels.second], ['1', undefined, '1']);
  });

  it('of a status takes away nothing of what its manager applied to the object', () => {
    const { client } = fixture();
    apply(client, 'm', { l: '1' });
    const conditions = [{ type: 'Tested', status: 'True' }];
    const configuration = { apiVersion: 'v1', kind: 'Node', metadata: {}, status: { conditions } };
    const { status } = client.patch(`${node}/status`, configuration, applyType, as('m'));
    assert.equal(status, 200);
    apply(client, 'm', { l: '2' });
    const { body } = client.get(node);
    assert.deepEqual([body.metadata.labels?.l, body.status.conditions.length], ['2', 1]);
    assert.deepEqual(
      owners(client).filter(([manager]) => manager === 'm'),
      [
        ['m', 'Apply', '', '00'],
        ['m', 'Apply', 'status', '00'],
      ],
    );
  });

  it('renews its time where a value is another, and not where all is the same', () => {
    const { client, pass } = fixture();
    apply(client, 'm', { l: '1' });
    for (const [value, time] of [
      ['1', '00'],
      ['2', '10'],
      ['2', '10'],
    ] as const) {
      pass(5000);
      apply(client, 'm', { l: value });
      assert.deepEqual(owners(client)[0], ['m', 'Apply', '', time]);
    }
  });

  it('that changes no value has no time where its manager is new', () => {
    const { client } = fixture();
    apply(client, 'm', { l: '1' });
    const { body } = apply(client, 'n', { l: '1' });
    const times = (body.metadata.managedFields as readonly Entry[]).map((entry) => [
      entry.manager,
      entry.time !== undefined,
    ]);
    assert.deepEqual(times.slice(0, 2), [
      ['n', false],
      ['m', true],
    ]);
  });

  it('that would change what its path leaves alone has a time all the same', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1', labels: { a: '1' } } });
    const status = { conditions: [{ type: 'T', status: 'True' }] };
    const configuration = { ...described, metadata: { name: 'n1', labels: { a: '1' } }, status };
    const { body } = client.patch(`${nodes}/n1`, configuration, applyType, {
      query: { fieldManager: 'one' },
    });
    assert.deepEqual(body.status.conditions ?? [], []);
    const [{ manager = '', time = '', fieldsV1 = {} } = {}] = body.metadata.managedFields ?? [];
    assert.deepEqual(
      [manager, time, Object.keys(fieldsV1)],
      ['one', '2026-01-01T00:00:00Z', ['f:metadata']],
    );
  });

  it('that makes an object makes its status as well, which nobody owns', () => {
    const { client } = fixture();
    const status = { conditions: [{ type: 'T', status: 'True' }] };
    const configuration = { ...described, metadata: { name: 'n1', labels: { a: '1' } }, status };
    const { body } = client.patch(`${nodes}/n1`, configuration, applyType, {
      query: { fieldManager: 'one' },
    });
    assert.equal(body.status.conditions[0].type, 'T');
    const [{ fieldsV1 = {} } = {}] = body.metadata.managedFields ?? [];
    assert.deepEqual(Object.keys(fieldsV1), ['f:metadata']);
  });

  it('owns an empty object as a whole, and takes nothing out of it', () => {
    const { client } = fixture();
    const configuration = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    client.post(nodes, { metadata: { name: 'n1' }, spec: { unschedulable: true } });
    const send = (spec: object) =>
      client.patch(node, { ...configuration, spec }, applyType, as('m'));
    const { status, body } = send({});
    assert.equal(status, 200);
    assert.deepEqual(body.metadata.managedFields?.[0]?.fieldsV1, { 'f:spec': {} });
    assert.equal(send({ podCIDR: '10.0.0.0/24' }).body.spec.unschedulable, true);
  });

  it('names several conflicts with one manager as several', () => {
    const { client } = fixture();
    apply(client, 'm', { k: '1', l: '1' });
    const { body } = apply(client, 'n', { k: '2', l: '2' });
    const fields = '- .metadata.labels.k\n- .metadata.labels.l';
    assert.equal(body.message, `Apply failed with 2 conflicts: conflicts with "m":\n${fields}`);
  });

  it('of two managers who leave out the same default is no conflict', () => {
    const { client } = fixture();
    const services = '/api/v1/namespaces/default/services';
    const spec = { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] };
    const configuration = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec };
    const statuses = ['one', 'two', 'one'].map(
      (manager) => client.patch(`${services}/web`, configuration, applyType, as(manager)).status,
    );
    assert.deepEqual(statuses, [201, 200, 200]);
    const ports = [{ port: 80, targetPort: 9090 }];
    const other = { ...configuration, spec: { ...spec, ports } };
    assert.equal(client.patch(`${services}/web`, other, applyType, as('two')).status, 409);
  });
});

describe('a patch with a field that nobody knows', () => {
  const merge = 'application/merge-patch+json';
  const strategic = 'application/strategic-merge-patch+json';
  for (const [type, shown] of [
    [merge, /"nosuch\\":\{\\"a\\":1\}\}"/],
    [strategic, /"map\[nosuch:map\[a:1\]\]"/],
  ] as const) {
    it(`is refused where the writer asks for it: ${type}`, () => {
      const { client } = fixture();
      client.post(nodes, { metadata: { name: 'n1' } });
      const query = { fieldValidation: 'Strict' };
      const { status, body } = client.patch(node, { nosuch: { a: 1 } }, type, { query });
      assert.equal(status, 422);
      assert.match(body.message, shown);
      assert.match(body.message, /: strict decoding error: unknown field "nosuch"$/);
    });
  }
});

describe('managed fields', () => {
  it('are of any number of managers that apply beside ten that update', () => {
    const { client } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: { name: 'n1' } }, as('maker'));
    for (let index = 0; index < 6; index++) {
      const metadata = { name: 'n1', labels: { [`a${index}`]: '' } };
      const configuration = { apiVersion: 'v1', kind: 'Node', metadata };
      client.patch(node, configuration, applyType, as(`a${index}`));
      client.patch(node, { metadata: { labels: { [`m${index}`]: '' } } }, merge, as(`m${index}`));
    }
    const managers = entriesOf(client.get(node).body).map(({ manager }) => manager);
    assert.equal(managers.length, 13);
    assert.ok(!managers.includes('ancient-changes'));
  });

  it('stay away from an object whose owners were reset, until it is applied', () => {
    const { client } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: { name: 'n1', labels: { made: '' } } }, as('maker'));
    client.patch(node, { metadata: { managedFields: [{}] } }, merge, as('edit'));
    const labelled = client.patch(node, { metadata: { labels: { l: '' } } }, merge, as('one'));
    assert.deepEqual(entriesOf(labelled.body), []);
    const configuration = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { m: '' } },
    };
    const applied = client.patch(node, configuration, applyType, as('two'));
    assert.deepEqual(
      entriesOf(applied.body).map(({ manager, operation }) => [manager, operation]),
      [
        ['two', 'Apply'],
        ['before-first-apply', 'Update'],
      ],
    );
  });
});

it('parts of a template have their defaults, and an apply finds its ports again', () => {
  const { client } = fixture();
  const path = '/apis/apps/v1/namespaces/default/deployments/web';
  const labels = { app: 'web' };
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }];
  const applied = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
  const as = { query: { fieldManager: 'one' } };
  const made = client.patch(path, applied, applyType, as);
  assert.deepEqual(made.body.spec.template.spec.containers[0].ports, [
    { containerPort: 80, protocol: 'TCP' },
  ]);
  assert.deepEqual(client.patch(path, applied, applyType, as).body, made.body);
});

describe('server-side apply', () => {
  const labelled = (labels: object, spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels },
    spec,
  });
  const as = (fieldManager: string, force = false) => ({
    query: { fieldManager, force: String(force) },
  });
  const managersOf = (object: KubeObject) =>
    (object.metadata.managedFields as readonly KubeObject[] | undefined)?.map(
      (entry) => `${entry.manager}/${entry.operation}`,
    );

  it('changes nothing when applied twice', () => {
    const { client } = fixture();
    const first = client.patch(`${nodes}/n1`, labelled({ l: '1' }), applyType, as('one'));
    const second = client.patch(`${nodes}/n1`, labelled({ l: '1' }), applyType, as('one'));
    assert.deepEqual([first.status, second.status], [201, 200]);
    assert.equal(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
  });

  it('shares a field that two managers agree on, and keeps it until both let go', () => {
    const { client } = fixture();
    client.patch(`${nodes}/n1`, labelled({ l: '1' }), applyType, as('one'));
    assert.equal(
      client.patch(`${nodes}/n1`, labelled({ l: '1' }), applyType, as('two')).status,
      200,
    );
    client.patch(`${nodes}/n1`, labelled({}), applyType, as('one'));
    assert.deepEqual(client.get(`${nodes}/n1`).body.metadata.labels, { l: '1' });
    client.patch(`${nodes}/n1`, labelled({}), applyType, as('two'));
    assert.equal(client.get(`${nodes}/n1`).body.metadata.labels, undefined);
  });

  it('asks before it takes a field that was written otherwise before', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1', labels: { l: '1', m: '1' } } });
    const refused = client.patch(`${nodes}/n1`, labelled({ l: '2', m: '2' }), applyType, as('one'));
    assert.equal(refused.status, 409);
    assert.deepEqual(
      refused.body.details.causes.map((cause: KubeObject) => [cause.field, cause.message]),
      [
        ['.metadata.labels.l', 'conflict with "unknown" using v1'],
        ['.metadata.labels.m', 'conflict with "unknown" using v1'],
      ],
    );
    const forced = client.patch(`${nodes}/n1`, labelled({ l: '2' }), applyType, as('one', true));
    assert.deepEqual(forced.body.metadata.labels, { l: '2', m: '1' });
    assert.deepEqual(managersOf(forced.body), ['one/Apply', 'unknown/Update']);
  });

  it('loses a field to whoever updates it later', () => {
    const { client } = fixture();
    client.patch(
      `${nodes}/n1`,
      labelled({ l: '1' }, { unschedulable: true }),
      applyType,
      as('one'),
    );
    const headers = { 'user-agent': 'myctl/v1' };
    const patched = client.patch(
      `${nodes}/n1`,
      { spec: { unschedulable: null }, metadata: { labels: { l: '2' } } },
      strategic,
      { headers },
    );
    assert.deepEqual(managersOf(patched.body), ['myctl/Update']);
    const again = client.patch(`${nodes}/n1`, labelled({ l: '1' }), applyType, as('one'));
    assert.match(again.body.message, /conflict with "myctl" using v1: \.metadata\.labels\.l$/);
  });

  it('owns list items one by one where they have a key', () => {
    const { client } = fixture();
    const ready = { type: 'Ready', status: 'True' };
    const apply = (manager: string, condition: object) =>
      client.patch(
        `${pods}/p/status`,
        { apiVersion: 'v1', kind: 'Pod', status: { conditions: [condition] } },
        applyType,
        as(manager),
      );
    client.post(pods, podNamed('p'));
    assert.equal(apply('one', ready).status, 200);
    assert.equal(apply('two', { type: 'Other', status: 'True' }).status, 200);
    const refused = apply('two', { ...ready, status: 'False' });
    assert.equal(refused.body.details.causes[0].field, '.status.conditions[type="Ready"].status');
    const types = client.get(`${pods}/p`).body.status.conditions.map((c: KubeObject) => c.type);
    assert.deepEqual(types, ['Ready', 'Other']);
  });
});
