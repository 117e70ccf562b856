import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { startServer } from '../world/http-server.ts';

const tls = (name: string): string =>
  fileURLToPath(new URL(`../testdata/transport/tls/${name}`, import.meta.url));

/** From a kubeconfig on disk to an answer over TLS. */
async function ask(t: TestContext, cluster: object): Promise<unknown> {
  const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = path.join(home, 'config');
  const user = { 'client-certificate': tls('client.crt'), 'client-key': tls('client.key') };
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/test');
  t.after(() => transport.close());
  // What makes a SOCKS connection is loaded first, which takes seconds on a busy machine.
  const api = new ApiClient({ transport, server: access.server, requestTimeout: 180_000 });
  return [await api.get('/one'), await api.get('/two')];
}

async function startApi(t: TestContext): Promise<string> {
  const { url } = await startServer(
    t,
    (request, response) => {
      const socket = request.socket as import('node:tls').TLSSocket;
      response.end(JSON.stringify([request.url, socket.getPeerCertificate().subject.CN]));
    },
    {
      cert: readFileSync(tls('server.crt')),
      key: readFileSync(tls('server.key')),
      ca: readFileSync(tls('ca.crt')),
      requestCert: true,
    },
  );
  return url;
}

const expected = [
  ['/one', 'test-client'],
  ['/two', 'test-client'],
];

describe('from a kubeconfig to an answer', () => {
  it('over TLS with a client certificate', async (t) => {
    const server = await startApi(t);
    const cluster = {
      server,
      'certificate-authority': tls('ca.crt'),
      'tls-server-name': 'api.test',
    };
    assert.deepEqual(await ask(t, cluster), expected);
  });

  it('through a proxy', async (t) => {
    const server = await startApi(t);
    const asked: (string | undefined)[] = [];
    const proxy = http.createServer();
    proxy.on('connect', (request, client) => {
      asked.push(request.url);
      const [host, port] = (request.url ?? '').split(':');
      const upstream = net.connect(Number(port), host);
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    t.after(() => proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const cluster = {
      server,
      'certificate-authority': tls('ca.crt'),
      'tls-server-name': 'api.test',
      'proxy-url': `http://127.0.0.1:${port}`,
    };
    assert.deepEqual(await ask(t, cluster), expected);
    assert.ok(asked.every((target) => target === new URL(server).host) && asked.length > 0);
  });

  it('through a SOCKS proxy', async (t) => {
    const server = await startApi(t);
    const { port, asked } = await startSocks(t);
    const cluster = {
      server,
      'certificate-authority': tls('ca.crt'),
      'tls-server-name': 'api.test',
      'proxy-url': `socks5://127.0.0.1:${port}`,
    };
    assert.deepEqual(await ask(t, cluster), expected);
    const target = Number(new URL(server).port);
    assert.ok(asked.length > 0 && asked.every((one) => one === target));
  });
});

/** As much of SOCKS 5 as it takes to connect to an IPv4 address without a password. */
async function startSocks(t: TestContext): Promise<{ port: number; asked: readonly number[] }> {
  const asked: number[] = [];
  const proxy = net.createServer((client) => {
    client.once('data', () => {
      client.once('data', (request: Buffer) => {
        const target = request.readUInt16BE(8);
        asked.push(target);
        const upstream = net.connect(target, [...request.subarray(4, 8)].join('.'), () => {
          client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
          upstream.pipe(client).pipe(upstream);
        });
      });
      client.write(Buffer.from([5, 0]));
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  return { asked, port: (proxy.address() as AddressInfo).port };
}
