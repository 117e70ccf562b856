import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCertificate } from '../../src/https/certificate.ts';
import { kubeconfigText, writeKubeconfig } from '../../src/https/kubeconfig.ts';
import { type HttpsServer, startHttps } from '../../src/https/server.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

const certificate = createCertificate(Date.now());

/** The whole body; rejects when the connection breaks before its end. */
async function read(response: IncomingMessage): Promise<string> {
  let received = '';
  for await (const chunk of response) received += chunk;
  return received;
}

describe('the certificate', () => {
  const authority = new X509Certificate(certificate.ca);
  const server = new X509Certificate(certificate.certificate);

  it('is issued and signed by its own authority', () => {
    assert.equal(authority.ca, true);
    assert.equal(server.ca, false);
    assert.ok(authority.verify(authority.publicKey));
    assert.ok(server.verify(authority.publicKey));
    assert.ok(server.checkIssued(authority));
  });

  it('speaks for this machine and nothing else', () => {
    assert.equal(server.checkHost('localhost'), 'localhost');
    assert.equal(server.checkIP('127.0.0.1'), '127.0.0.1');
    assert.equal(server.checkIP('::1'), '::1');
    assert.equal(server.checkHost('example.com'), undefined);
  });

  it('speaks for whom it is asked to', () => {
    const hosts = ['example.com', '192.0.2.7', '2001:db8::a:0:7', '::', '1:2:3:4:5:6:7:8'];
    const subject = { name: 'server', authority: 'authority', hosts };
    const other = new X509Certificate(createCertificate(Date.now(), subject).certificate);
    assert.deepEqual([other.subject, other.issuer], ['CN=server', 'CN=authority']);
    const full = ['2001:DB8:0:0:0:A:0:7', '0:0:0:0:0:0:0:0', '1:2:3:4:5:6:7:8'];
    const names = ['192.0.2.7', ...full].map((address) => `IP Address:${address}`);
    assert.equal(other.subjectAltName, ['DNS:example.com', ...names].join(', '));
  });

  it('is good for a year', () => {
    const days = (Date.parse(server.validTo) - Date.now()) / 86_400_000;
    assert.ok(days > 360 && days < 366, `${days} days`);
    assert.ok(Date.parse(server.validFrom) < Date.now());
  });

  it('differs each time', () => {
    const other = new X509Certificate(createCertificate(Date.now()).certificate);
    assert.notEqual(other.serialNumber, server.serialNumber);
    assert.notEqual(other.fingerprint256, server.fingerprint256);
  });
});

describe('HTTPS', () => {
  const { api, clock } = fixture();
  let server: HttpsServer;

  before(async () => {
    server = await startHttps({ exchange: api.exchange, certificate });
  });
  after(() => server.close());

  /** Opens a request; the response has only begun. */
  function open(path: string, options: RequestOptions = {}, body = ''): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(`${server.url}${path}`, {
        ca: certificate.ca,
        agent: false,
        ...options,
      });
      sent.once('response', resolve);
      sent.once('error', reject);
      sent.end(body);
    });
  }

  async function text(path: string, options: RequestOptions = {}, body = '') {
    const response = await open(path, options, body);
    const received = await read(response);
    return { status: response.statusCode, headers: response.headers, received };
  }

  /** Until no watch waits on the clock: the server hears of a broken connection in its own time. */
  async function untilFreed(): Promise<void> {
    while (clock.nextWake() !== null) await new Promise((resolve) => setImmediate(resolve));
  }

  it('answers a client that trusts the authority, under each of its names', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const { status, received } = await text('/version', { host });
      assert.deepEqual([status, JSON.parse(received).gitVersion], [200, 'v1.36.2']);
    }
  });

  it('is not believed by a client that does not', async () => {
    await assert.rejects(open('/version', { ca: undefined }), /certificate/);
  });

  it('carries bodies both ways', async () => {
    const headers = { 'content-type': 'application/json' };
    const pod = JSON.stringify(podNamed('p', {}, { annotations: { a: 'ü' } }));
    const { status, received } = await text(pods, { method: 'POST', headers }, pod);
    assert.deepEqual([status, JSON.parse(received).metadata.annotations], [201, { a: 'ü' }]);
  });

  it('sends the head of a watch before there is an event, and each event at once', async () => {
    const { resourceVersion = '' } = api.create('nodes', { metadata: { name: 'n0' } }).metadata;
    const response = await open(`${nodes}?watch=true&resourceVersion=${resourceVersion}`);
    assert.equal(response.statusCode, 200);
    const chunks = response[Symbol.asyncIterator]();
    for (const name of ['n1', 'n2']) {
      api.create('nodes', { metadata: { name } });
      const { value } = await chunks.next();
      const { type, object } = JSON.parse(String(value));
      assert.deepEqual([type, object.metadata.name], ['ADDED', name]);
    }
    response.destroy();
  });

  it('frees the watch of a client that goes away', async () => {
    const response = await open(`${nodes}?watch=true&resourceVersion=0`);
    await response[Symbol.asyncIterator]().next();
    response.destroy();
    await untilFreed();
  });

  it('drops the watch of a client that does not read', async (t) => {
    const slow = await startHttps({ exchange: api.exchange, certificate, slowClientMs: 20 });
    t.after(() => slow.close());
    const unread = await open(`${nodes}?watch=true`, { port: slow.port });
    const annotations = { a: 'x'.repeat(200_000) };
    api.create('nodes', { metadata: { name: 'big', annotations } });
    for (let turn = 0; turn < 200; turn++) {
      api.update('nodes', { metadata: { name: 'big', labels: { turn: `${turn}` }, annotations } });
    }
    await untilFreed();
    await assert.rejects(read(unread), /aborted/);
  });

  it('ends a watch so that the client sees an end, and a cut one so that it sees a break', async () => {
    const ended = await open(`${pods}?watch=true&timeoutSeconds=1`);
    const cut = await open(`${pods}?watch=true`);
    clock.advanceTo(clock.now() + 1000);
    assert.match(await read(ended), /"ADDED"/);
    api.faults.breakStreams();
    await assert.rejects(read(cut), /aborted/);
  });

  it('refuses everybody while the server is down', async () => {
    api.faults.down = true;
    await assert.rejects(open('/version'), /socket hang up|ECONNRESET/);
    api.faults.down = false;
    assert.equal((await text('/version')).status, 200);
  });

  it('refuses a body that is too long', async () => {
    const body = JSON.stringify({ metadata: { name: 'x'.repeat(3 * 1024 * 1024) } });
    const { status, received } = await text(pods, { method: 'POST' }, body);
    assert.equal(status, 413);
    assert.equal(JSON.parse(received).reason, 'RequestEntityTooLarge');
  });

  it('says why it cannot listen', async () => {
    const { port } = server;
    await assert.rejects(startHttps({ exchange: api.exchange, certificate, port }), /EADDRINUSE/);
  });
});

describe('the kubeconfig', () => {
  const options = { server: 'https://127.0.0.1:1', ca: certificate.ca, token: 'T', name: 'demo' };

  it('holds server, authority and token', () => {
    const text = kubeconfigText(options);
    assert.match(text, /server: "https:\/\/127\.0\.0\.1:1"/);
    assert.match(text, /token: "T"/);
    assert.match(text, /current-context: "demo"/);
    const ca = /certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '';
    assert.equal(Buffer.from(ca, 'base64').toString(), certificate.ca);
  });

  it('is its owner’s alone, even where an open file was', () => {
    const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    const path = join(directory, 'config');
    writeFileSync(path, 'old', { mode: 0o644 });
    writeKubeconfig(path, options);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(readFileSync(path, 'utf8'), kubeconfigText(options));
    rmSync(directory, { recursive: true });
  });
});
