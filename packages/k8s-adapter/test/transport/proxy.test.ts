import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { startServer } from '../world/http-server.ts';

const tls = (name: string): string =>
  fileURLToPath(new URL(`../testdata/transport/tls/${name}`, import.meta.url));

/** A client by a kubeconfig on disk. */
async function clientOf(t: TestContext, cluster: object): Promise<ApiClient> {
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
  return new ApiClient({ transport, server: access.server, requestTimeout: 180_000 });
}

/** From a kubeconfig on disk to an answer over TLS. */
async function ask(t: TestContext, cluster: object): Promise<unknown> {
  const api = await clientOf(t, cluster);
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

/** The cluster of a kubeconfig whose certificate is verified. */
const verified = (server: string) => ({
  server,
  'certificate-authority': tls('ca.crt'),
  'tls-server-name': 'api.test',
});

describe('from a kubeconfig to an answer', () => {
  it('over TLS with a client certificate', async (t) => {
    const server = await startApi(t);
    const cluster = verified(server);
    assert.deepEqual(await ask(t, cluster), expected);
  });

  it('through a proxy', async (t) => {
    const server = await startApi(t);
    const { port, asked } = await startProxy(t);
    const cluster = { ...verified(server), 'proxy-url': `http://127.0.0.1:${port}` };
    assert.deepEqual(await ask(t, cluster), expected);
    const target = new URL(server).host;
    assert.ok(asked.length > 0 && asked.every((one) => one === `${target} undefined`));
  });

  it('through a proxy that wants to know who comes', async (t) => {
    const server = await startApi(t);
    const { port, asked } = await startProxy(t);
    const cluster = {
      ...verified(server),
      'proxy-url': `http://ada:s%40crat%3A@127.0.0.1:${port}`,
    };
    assert.deepEqual(await ask(t, cluster), expected);
    const login = `Basic ${Buffer.from('ada:s@crat:').toString('base64')}`;
    assert.equal(asked[0], `${new URL(server).host} ${login}`);
  });

  it('not through a proxy that refuses, whose password no message repeats', async (t) => {
    const server = await startApi(t);
    const { port } = await startProxy(t, 'HTTP/1.1 407 Login Required');
    const proxy = `http://ada:s%40crat@127.0.0.1:${port}`;
    const cluster = { server, 'certificate-authority': tls('ca.crt'), 'proxy-url': proxy };
    await assert.rejects(ask(t, cluster), ({ message }: Error) => {
      assert.ok(message.includes(`proxy 127.0.0.1:${port} refused: 407 Login Required`), message);
      return !/ada|crat/.test(message);
    });
  });

  for (const scheme of ['socks5', 'SOCKS5']) {
    it(`through a SOCKS proxy, as ${scheme}`, async (t) => {
      const server = await startApi(t);
      const { port, asked } = await startSocks(t);
      const cluster = { ...verified(server), 'proxy-url': `${scheme}://127.0.0.1:${port}` };
      assert.deepEqual(await ask(t, cluster), expected);
      assert.deepEqual([...new Set(asked)], [new URL(server).host]);
    });
  }

  it('through a SOCKS proxy that alone knows the name of the server', async (t) => {
    const { port: at } = new URL(await startApi(t));
    const { port, asked } = await startSocks(t);
    const cluster = {
      server: `https://api.test:${at}`,
      'certificate-authority': tls('ca.crt'),
      'proxy-url': `socks5://127.0.0.1:${port}`,
    };
    assert.deepEqual(await ask(t, cluster), expected);
    assert.deepEqual([...new Set(asked)], [`api.test:${at}`]);
  });

  it('through a SOCKS proxy, with the authority that is trusted now', async (t) => {
    const server = await startApi(t);
    const { port } = await startSocks(t);
    const folder = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const authority = path.join(folder, 'ca.crt');
    copyFileSync(tls('client.crt'), authority);
    const api = await clientOf(t, {
      server,
      'certificate-authority': authority,
      'tls-server-name': 'api.test',
      'proxy-url': `socks5://127.0.0.1:${port}`,
    });
    await assert.rejects(api.get('/one'), /signed by an authority that is not trusted/);
    copyFileSync(tls('ca.crt'), authority);
    assert.deepEqual(await api.get('/one'), expected[0]);
  });

  it('through a SOCKS proxy, verifying the server whatever the environment says', async (t) => {
    const server = await startApi(t);
    const { port } = await startSocks(t);
    const api = await clientOf(t, {
      server,
      'certificate-authority': tls('client.crt'),
      'tls-server-name': 'api.test',
      'proxy-url': `socks5://127.0.0.1:${port}`,
    });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.after(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    });
    await assert.rejects(api.get('/one'), /signed by an authority that is not trusted/);
  });
});

/** A proxy that answers CONNECT so, and goes on where that is yes; whereto, and with which login, it was asked. */
async function startProxy(
  t: TestContext,
  answer = 'HTTP/1.1 200 OK',
): Promise<{ port: number; asked: readonly string[] }> {
  const asked: string[] = [];
  const proxy = http.createServer();
  proxy.on('connect', (request, client) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    client.write(`${answer}\r\n\r\n`);
    if (!answer.includes('200')) return client.end();
    const [host, port] = (request.url ?? '').split(':');
    const upstream = net.connect(Number(port), host);
    return upstream.pipe(client).pipe(upstream);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  return { asked, port: (proxy.address() as AddressInfo).port };
}

/** As much of SOCKS 5 as it takes to connect to this machine, by IPv4 or a name, without a password. */
async function startSocks(t: TestContext): Promise<{ port: number; asked: readonly string[] }> {
  const asked: string[] = [];
  const proxy = net.createServer((client) => {
    client.on('error', () => {});
    client.once('data', () => {
      client.once('data', (request: Buffer) => {
        const target = request.readUInt16BE(request.length - 2);
        const isName = request[3] === 3;
        const host = isName ? `${request.subarray(5, -2)}` : [...request.subarray(4, 8)].join('.');
        asked.push(`${host}:${target}`);
        const upstream = net.connect(target, '127.0.0.1', () => {
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
