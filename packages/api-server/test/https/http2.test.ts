import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createCertificate } from '../../src/https/certificate.ts';
import { type HttpsServer, startHttps } from '../../src/https/server.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

const certificate = createCertificate(Date.now());

describe('HTTP/2', () => {
  const { api, clock } = fixture();
  let server: HttpsServer;
  let session: ClientHttp2Session;

  before(async () => {
    server = await startHttps({ exchange: api.exchange, certificate, slowClientMs: 20 });
  });
  beforeEach(() => {
    session = connect(server.url, { ca: certificate.ca });
  });
  afterEach(() => session.destroy());
  after(() => server.close());

  function open(path: string, method = 'GET', body?: string): ClientHttp2Stream {
    const headers = { ':path': path, ':method': method, 'content-type': 'application/json' };
    const stream = session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return stream;
  }

  async function read(stream: ClientHttp2Stream): Promise<string> {
    let text = '';
    for await (const chunk of stream) text += chunk;
    return text;
  }

  async function statusOf(stream: ClientHttp2Stream): Promise<number | undefined> {
    const [headers] = await once(stream, 'response');
    return headers[':status'];
  }

  async function untilFreed(): Promise<void> {
    while (clock.nextWake() !== null) await new Promise((resolve) => setImmediate(resolve));
  }

  it('is chosen by a client that offers it, as HTTP/1.1 is by one that does not', async () => {
    const speak = async (ALPNProtocols: string[]): Promise<string | false | null> => {
      const { port } = server;
      const socket: TLSSocket = connectTls({ port, ca: certificate.ca, ALPNProtocols });
      await once(socket, 'secureConnect');
      socket.destroy();
      return socket.alpnProtocol;
    };
    assert.equal(await speak(['h2', 'http/1.1']), 'h2');
    assert.equal(await speak(['http/1.1']), 'http/1.1');
  });

  it('is not offered where it is not wanted', async (t) => {
    const old = await startHttps({ exchange: api.exchange, certificate, http2: false });
    t.after(() => old.close());
    const ALPNProtocols = ['h2', 'http/1.1'];
    const socket = connectTls({ port: old.port, ca: certificate.ca, ALPNProtocols });
    await once(socket, 'secureConnect');
    assert.equal(socket.alpnProtocol, 'http/1.1');
    socket.destroy();
  });

  it('carries bodies both ways', async () => {
    const created = open(pods, 'POST', JSON.stringify(podNamed('p')));
    assert.equal(await statusOf(created), 201);
    assert.equal(JSON.parse(await read(created)).metadata.name, 'p');
    const deleted = open(`${pods}/p`, 'DELETE', JSON.stringify({ gracePeriodSeconds: 0 }));
    assert.equal(await statusOf(deleted), 200);
    await read(deleted);
  });

  it('lets one connection carry many watches, a hundred requests at a time', async () => {
    if (session.remoteSettings.maxConcurrentStreams === undefined) {
      await once(session, 'remoteSettings');
    }
    assert.equal(session.remoteSettings.maxConcurrentStreams, 100);
    const watches = Array.from({ length: 20 }, () => open(`${nodes}?watch=true`));
    assert.deepEqual(new Set(await Promise.all(watches.map(statusOf))), new Set([200]));
    api.create('nodes', { metadata: { name: 'n' } });
    for (const watch of watches) {
      const [chunk] = await once(watch, 'data');
      assert.match(String(chunk), /"ADDED".*"name":"n"/);
      watch.close();
    }
    await untilFreed();
  });

  it('tells an end from a break, which leaves the connection to the others', async () => {
    const ended = open(`${pods}?watch=true&timeoutSeconds=1`);
    const cut = open(`${pods}?watch=true`);
    await Promise.all([statusOf(ended), statusOf(cut)]);
    clock.advanceTo(clock.now() + 1000);
    assert.equal(await read(ended), '');
    api.faults.breakStreams();
    await assert.rejects(read(cut), /NGHTTP2_INTERNAL_ERROR/);
    assert.equal(await statusOf(open('/version')), 200);
  });

  it('drops the watch of a client that does not read', async () => {
    const unread = open(`${nodes}?watch=true`);
    await statusOf(unread);
    const annotations = { a: 'x'.repeat(200_000) };
    api.create('nodes', { metadata: { name: 'big', annotations } });
    for (let turn = 0; turn < 200; turn++) {
      api.update('nodes', { metadata: { name: 'big', labels: { turn: `${turn}` }, annotations } });
    }
    await untilFreed();
    await assert.rejects(read(unread), /NGHTTP2_INTERNAL_ERROR/);
  });

  it('answers others on a connection where much waits to be read', async () => {
    // More than the 10 MB that Node lets wait if nothing is said.
    const much = new Uint8Array(32 * 1024 * 1024);
    const other = await startHttps({
      certificate,
      exchange: (request, sink) => {
        if (request.path !== '/much') return api.exchange(request, sink);
        sink.head(200, {});
        sink.data(much);
        return () => {};
      },
    });
    const client = connect(other.url, { ca: certificate.ca });
    const unread = client.request({ ':path': '/much' });
    unread.on('error', () => {});
    await statusOf(unread);
    for (let turn = 0; turn < 3; turn++) {
      assert.equal(await statusOf(client.request({ ':path': pods })), 200);
    }
    client.destroy();
    await other.close();
  });

  it('refuses a body that is too long', async () => {
    const body = JSON.stringify({ metadata: { name: 'x'.repeat(3 * 1024 * 1024) } });
    const stream = open(pods, 'POST', body);
    assert.equal(await statusOf(stream), 413);
    assert.equal(JSON.parse(await read(stream)).reason, 'RequestEntityTooLarge');
  });

  it('ends with the server', async () => {
    const short = await startHttps({ exchange: api.exchange, certificate });
    const client = connect(short.url, { ca: certificate.ca });
    const watch = client.request({ ':path': `${pods}?watch=true` });
    await statusOf(watch);
    const closed = once(client, 'close');
    watch.on('error', () => {});
    client.on('error', () => {});
    await short.close();
    await closed;
    await untilFreed();
  });
});
