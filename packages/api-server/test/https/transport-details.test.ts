import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType } from '../../../sim-cluster/test/world/client.ts';
import { createCertificate } from '../../src/https/certificate.ts';
import { type HttpsServer, startHttps } from '../../src/https/server.ts';
import { fixture, nodes, podNamed, pods, summary } from '../world/api-fixture.ts';

const certificate = createCertificate(Date.now());

describe('over HTTPS', () => {
  const { api } = fixture();
  let server: HttpsServer;

  before(async () => {
    const annotations = { a: 'x'.repeat(70_000) };
    for (const name of ['a', 'b']) api.create('nodes', { metadata: { name, annotations } });
    server = await startHttps({ exchange: api.exchange, certificate });
  });
  after(() => server.close());

  /** Whole answers over HTTP/1.1 and HTTP/2. */
  const protocols: Readonly<Record<string, typeof ask1>> = { 'HTTP/1.1': ask1, 'HTTP/2': ask2 };

  async function ask1(method: string, path: string, headers: Record<string, string> = {}) {
    const sent = request(`${server.url}${path}`, {
      method,
      headers,
      ca: certificate.ca,
      agent: false,
    }).end();
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  }

  async function ask2(method: string, path: string, headers: Record<string, string> = {}) {
    const session = connect(server.url, { ca: certificate.ca });
    const stream = session.request({ ...headers, ':method': method, ':path': path });
    const [answered] = await once(stream, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    session.destroy();
    return { status: answered[':status'], headers: answered, body: Buffer.concat(chunks) };
  }

  const gzip = { 'accept-encoding': 'deflate, gzip;q=1.0' };
  for (const [protocol, ask] of Object.entries(protocols)) {
    it(`${protocol}: compresses what is long, for those who want it`, async () => {
      const { headers, body } = await ask('GET', nodes, gzip);
      assert.equal(headers['content-encoding'], 'gzip');
      assert.ok(body.length < 20_000, `${body.length} bytes`);
      const plain = await ask('GET', nodes);
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.deepEqual(gunzipSync(body), plain.body);
    });

    it(`${protocol}: leaves what is short as it is`, async () => {
      const { status, headers, body } = await ask('GET', `${nodes}/a`, gzip);
      assert.deepEqual([status, headers['content-encoding']], [200, undefined]);
      assert.equal(JSON.parse(body.toString()).metadata.name, 'a');
    });

    it(`${protocol}: answers HEAD where the real server does, without a body`, async () => {
      const answers = await Promise.all(
        ['/healthz', `${nodes}/a`, nodes, '/version'].map((path) => ask('HEAD', path)),
      );
      assert.deepEqual(
        answers.map(({ status, body }) => [status, body.length]),
        [
          [200, 0],
          [405, 0],
          [405, 0],
          [405, 0],
        ],
      );
    });
  }

  it('does not hold a watch back to compress it', async () => {
    const session = connect(server.url, { ca: certificate.ca });
    const stream = session.request({ ...gzip, ':path': `${nodes}?watch=true` });
    const [headers] = await once(stream, 'response');
    assert.equal(headers['content-encoding'], undefined);
    const [chunk] = await once(stream, 'data');
    assert.match(String(chunk), /^\{"type":"ADDED"/);
    session.destroy();
  });
});

describe('every answer', () => {
  it('has an id of its own, or the one that the client gives it', () => {
    const { client } = fixture();
    const ids = [nodes, '/version', `${nodes}/none`, `${nodes}?watch=true`].map(
      (path) => client.get(path).headers['audit-id'],
    );
    assert.equal(new Set(ids).size, 4);
    for (const id of ids) assert.match(id ?? '', /^[0-9a-f-]{36}$/);
    const headers = { 'audit-id': 'mine' };
    assert.equal(client.get(nodes, { headers }).headers['audit-id'], 'mine');
  });
});

describe('bodies in YAML', () => {
  /** Stands for a reader of YAML: it knows one document. */
  const parseYaml = (text: string): unknown => {
    if (text !== 'THE POD') throw new Error('not a document');
    return { apiVersion: 'v1', kind: 'Pod', ...podNamed('p') };
  };
  const headers = { 'content-type': 'application/yaml' };

  it('are understood when somebody can read them', () => {
    const { client } = fixture({ parseYaml });
    const { status, body } = client.post(pods, 'THE POD', { headers });
    assert.deepEqual([status, body.metadata.name], [201, 'p']);
    const query = { fieldManager: 'm' };
    const applied = client.patch(`${pods}/p`, 'THE POD', applyType, { query });
    assert.deepEqual([applied.status, applied.body.metadata.name], [200, 'p']);
  });

  it('are refused with words of the real server when they are none', () => {
    const { client } = fixture({ parseYaml });
    const { status, body } = client.post(pods, '{', { headers });
    assert.deepEqual([status, body.reason], [400, 'BadRequest']);
    assert.equal(fixture().client.post(pods, 'THE POD', { headers }).status, 400);
  });
});

describe('events', () => {
  const events = '/api/v1/namespaces/default/events';
  const event = (name: string): object => ({
    metadata: { name },
    involvedObject: { namespace: 'default', name: 'p' },
  });

  it('go an hour after they were written last', () => {
    const { client, pass } = fixture();
    const names = (): readonly string[] =>
      client
        .get(events)
        .body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    const watching = client.watch(events, { query: { timeoutSeconds: 10_000 } });
    client.post(events, event('a'));
    client.post(events, event('b'));
    pass(1_800_000);
    client.patch(`${events}/b`, { count: 2 });
    client.post(events, event('c'));
    pass(1_800_000);
    assert.deepEqual(names(), ['a', 'b', 'c']);
    pass(1000);
    assert.deepEqual(names(), ['b', 'c']);
    assert.deepEqual(summary(watching.events).slice(-1), ['DELETED a']);
    client.delete(`${events}/c`);
    client.post(events, event('c'));
    pass(1_800_000);
    assert.deepEqual(names(), ['c']);
    pass(1_801_000);
    assert.deepEqual(names(), []);
  });

  it('go earlier where that is wished', () => {
    const { api, pass } = fixture({ eventTtlMs: 60_000 });
    api.create('events', { ...event('a'), metadata: { name: 'a', namespace: 'default' } });
    pass(61_000);
    assert.equal(api.list('events').length, 0);
  });
});
