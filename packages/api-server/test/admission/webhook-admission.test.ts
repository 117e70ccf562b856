import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, merge, strategic } from '../../../sim-cluster/test/world/client.ts';
import { podNamed } from '../world/api-fixture.ts';
import {
  configuration,
  configurations,
  eviction,
  evictions,
  shop,
  webhook,
  withWebhooks,
} from './asked-webhooks.ts';

const name = 'evictions.example.com';
const denied = `admission webhook "${name}" denied the request`;

describe('a webhook that is asked about evictions', () => {
  it('is shown the eviction as the real server shows it', () => {
    const { asked, calls, client } = withWebhooks(() => ({ allowed: true }));
    assert.equal(client.post(`${shop}/web/eviction`, eviction()).status, 201);
    assert.equal(client.get(`${shop}/web`).status, 404);
    const [{ uid = '', ...request } = {}] = asked;
    assert.match(String(uid), /^[0-9a-f-]{36}$/);
    assert.deepEqual(request, {
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      requestSubResource: 'eviction',
      name: 'web',
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      object: eviction(),
      oldObject: null,
    });
    const [{ body: _, ...call } = {}] = calls;
    assert.deepEqual(call, {
      url: `https://10.9.8.7:9443/${name}?timeout=10s`,
      host: '10.9.8.7',
      port: 9443,
      serverName: '10.9.8.7',
      ca: null,
    });
  });

  it('is told what the request says of itself, and no more', () => {
    const { asked, client } = withWebhooks(
      () => ({ allowed: true }),
      [webhook(name, { rules: [{ ...evictions, operations: ['*'], resources: ['pods'] }] })],
    );
    const path = `${shop}/web`;
    const headers = { 'user-agent': 'ours/1' };
    const query = { fieldManager: 'me', fieldValidation: 'Warn' };
    client.patch(path, { metadata: { labels: { a: 'b' } } }, merge, { headers });
    client.patch(path, { metadata: { labels: { a: 'c' } } }, merge, { query });
    client.post(shop, podNamed('p', {}, { namespace: 'shop' }), { query: { dryRun: 'All' } });
    client.delete(path, { query: { gracePeriodSeconds: '0' } });
    const said = (kind: string, more: object = {}) => ({
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...more,
    });
    assert.deepEqual(
      asked.map(({ options }) => options),
      [
        said('UpdateOptions'),
        said('UpdateOptions', query),
        said('CreateOptions', { dryRun: ['All'] }),
        said('DeleteOptions', { gracePeriodSeconds: 0 }),
      ],
    );
  });

  const refusals: readonly (readonly [string, object, number, object])[] = [
    [
      'its code and words',
      { status: { code: 429, message: 'rolling it myself' } },
      429,
      { message: `${denied}: rolling it myself` },
    ],
    [
      'its reason and details',
      { status: { code: 403, reason: 'Forbidden', message: 'no', details: { name: 'web' } } },
      403,
      { message: `${denied}: no`, reason: 'Forbidden', details: { name: 'web' } },
    ],
    [
      'its reason where it has no words',
      { status: { code: 500, reason: 'Later' } },
      500,
      { message: `${denied}: Later`, reason: 'Later' },
    ],
    [
      '400 where it names no code',
      { status: { message: 'no' } },
      400,
      { message: `${denied}: no` },
    ],
    [
      '400 where its code is no refusal',
      { status: { code: 200, status: 'Success', message: 'no' } },
      400,
      { message: `${denied}: no` },
    ],
    ['that it did not explain', {}, 400, { message: `${denied} without explanation` }],
  ];
  for (const [what, response, code, expected] of refusals) {
    it(`refuses with ${what}`, () => {
      const { client } = withWebhooks(() => ({ allowed: false, ...response }));
      const { status, body } = client.post(`${shop}/web/eviction`, eviction());
      const common = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
      assert.deepEqual([status, body], [code, { ...common, ...expected, code }]);
      assert.equal(client.get(`${shop}/web`).body.metadata.deletionTimestamp, undefined);
    });
  }

  it('tells how long to wait in a header', () => {
    const details = { retryAfterSeconds: 7 };
    const { client } = withWebhooks(() => ({ allowed: false, status: { code: 429, details } }));
    assert.equal(client.post(`${shop}/web/eviction`, eviction()).headers['retry-after'], '7');
  });

  it('warns, whatever it decides', () => {
    for (const allowed of [true, false]) {
      const { client } = withWebhooks(() => ({ allowed, warnings: ['mind the gap'] }));
      const { headers } = client.post(`${shop}/web/eviction`, eviction());
      assert.equal(headers.warning, '299 - "mind the gap"');
    }
  });
});

describe('which requests a webhook is asked about', () => {
  const every = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
  const matches: readonly (readonly [string, object, number])[] = [
    ['the rule of evictions', {}, 1],
    ['no rules at all', { rules: [] }, 0],
    ['pods alone', { rules: [{ ...evictions, resources: ['pods'] }] }, 0],
    ['pods with all that is below them', { rules: [{ ...evictions, resources: ['pods/*'] }] }, 1],
    ['deletions', { rules: [{ ...evictions, operations: ['DELETE'] }] }, 0],
    ['a namespace with a label', { namespaceSelector: { matchLabels: { tier: 'gold' } } }, 1],
    ['a namespace without it', { namespaceSelector: { matchLabels: { tier: 'tin' } } }, 0],
    ['evictions with a label', { objectSelector: { matchLabels: { app: 'web' } } }, 0],
    [
      'a condition that holds',
      { matchConditions: [{ name: 'web', expression: 'object.metadata.name == "web"' }] },
      1,
    ],
    [
      'a condition that does not',
      { matchConditions: [{ name: 'db', expression: 'object.metadata.name == "db"' }] },
      0,
    ],
    [
      'a condition that fails, and Ignore',
      {
        failurePolicy: 'Ignore',
        matchConditions: [{ name: 'x', expression: 'object.missing == 1' }],
      },
      0,
    ],
  ];
  for (const [what, more, count] of matches) {
    it(`${count === 1 ? 'is' : 'is not'} asked: ${what}`, () => {
      const { asked, client } = withWebhooks(() => ({ allowed: true }), [webhook(name, more)]);
      assert.equal(client.post(`${shop}/web/eviction`, eviction()).status, 201);
      assert.equal(asked.length, count);
    });
  }

  it('refuses where a condition fails', () => {
    const matchConditions = [{ name: 'x', expression: 'object.missing == 1' }];
    const { asked, client } = withWebhooks(() => ({}), [webhook(name, { matchConditions })]);
    const { status, body } = client.post(`${shop}/web/eviction`, eviction());
    assert.equal(status, 403);
    assert.equal(
      body.message,
      'pods "web" is forbidden: expression \'object.missing == 1\' resulted in error: no such key: missing',
    );
    assert.deepEqual(asked, []);
  });

  it('is asked about every way to write, once each', () => {
    const { asked, client } = withWebhooks(
      () => ({ allowed: true }),
      [webhook(name, { rules: [every] })],
    );
    const label = { metadata: { labels: { x: 'y' } } };
    const pod = { ...podNamed('new'), apiVersion: 'v1', kind: 'Pod' };
    const named = { ...pod, metadata: { generateName: 'gen-' } };
    const stored = client.post(shop, pod).body;
    const generated = client.post(shop, named).body;
    client.put(`${shop}/new`, { ...stored, metadata: { ...stored.metadata, ...label.metadata } });
    client.patch(`${shop}/new`, { metadata: { labels: { x: 'z' } } }, strategic);
    const metadata = { name: 'new', labels: { y: 'z' } };
    const applied = { apiVersion: 'v1', kind: 'Pod', metadata };
    client.patch(`${shop}/new`, applied, applyType, { query: { fieldManager: 'm' } });
    client.delete(`${shop}/new`);
    assert.deepEqual(
      asked.map(({ operation, name: of, object }) => [operation, of, object !== null]),
      [
        ['CREATE', 'new', true],
        ['CREATE', generated.metadata.name, true],
        ['UPDATE', 'new', true],
        ['UPDATE', 'new', true],
        ['UPDATE', 'new', true],
        ['DELETE', 'new', false],
      ],
    );
    const shown = asked[1]?.object as typeof generated;
    assert.deepEqual(shown.metadata.uid, generated.metadata.uid);
  });

  it('is asked about each object of a collection, and the answer has them all', () => {
    const { asked, client } = withWebhooks(
      () => ({ allowed: true }),
      [webhook(name, { rules: [{ ...evictions, operations: ['DELETE'], resources: ['pods'] }] })],
    );
    client.post(shop, podNamed('second'));
    const { status, body } = client.delete(shop);
    const items = body.items as readonly { readonly metadata: { readonly name: string } }[];
    assert.equal(status, 200);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['second', 'web'],
    );
    assert.deepEqual(
      asked.map(({ oldObject }) => (oldObject as (typeof items)[number]).metadata.name),
      ['second', 'web'],
    );
    assert.deepEqual(client.get(shop).body.items, []);
  });

  it('is never asked about webhooks and policies', () => {
    const { asked, client } = withWebhooks(() => ({}), [webhook(name, { rules: [every] })]);
    assert.equal(client.delete(`${configurations}/c`).status, 200);
    assert.deepEqual(asked, []);
  });

  it('is not asked about a dry run where it may have effects', () => {
    const dry = { query: { dryRun: 'All' } };
    const { asked, client } = withWebhooks(() => ({ allowed: true }));
    assert.equal(client.post(`${shop}/web/eviction`, eviction(), dry).status, 201);
    assert.equal(asked[0]?.dryRun, true);
    assert.equal(client.get(`${shop}/web`).status, 200);
  });

  it('sees a change that came in between, and is asked again', () => {
    const rules = [{ ...evictions, operations: ['UPDATE'], resources: ['pods'] }];
    const { api, asked, client, pass } = withWebhooks(
      () => ({ allowed: true }),
      [webhook(name, { rules })],
      100,
    );
    const patch = { metadata: { labels: { mine: 'yes' } } };
    const headers = { 'content-type': strategic };
    const response = client.send('PATCH', `${shop}/web`, { body: patch, headers });
    pass(50);
    const pod = api.get('pods', 'shop', 'web');
    assert.ok(pod);
    api.update('pods', { ...pod, metadata: { ...pod.metadata, labels: { theirs: 'too' } } });
    pass(200);
    assert.deepEqual(response().body.metadata.labels, { theirs: 'too', mine: 'yes' });
    assert.equal(asked.length, 2);
  });
});

describe('several webhooks', () => {
  it('are asked together, and the first that refuses is the answer', () => {
    const two = [webhook('one.example.com'), webhook('two.example.com')];
    const { asked, client } = withWebhooks(() => ({ allowed: false }), two);
    const { body } = client.post(`${shop}/web/eviction`, eviction());
    assert.equal(asked.length, 2);
    assert.equal(
      body.message,
      'admission webhook "one.example.com" denied the request without explanation',
    );
  });

  it('are those of all configurations, until these are gone', () => {
    const { asked, client, pass } = withWebhooks(() => ({ allowed: false }));
    client.post(configurations, configuration('d', webhook('other.example.com')));
    pass(10);
    client.post(`${shop}/web/eviction`, eviction());
    assert.equal(asked.length, 2);
    client.delete(configurations);
    pass(10);
    assert.equal(client.post(`${shop}/web/eviction`, eviction()).status, 201);
    assert.equal(asked.length, 2);
  });
});
