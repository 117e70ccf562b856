import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { ask, clientOf, expected, startApi, tls, verified } from '../transport/tls-cluster.ts';

describe('from a kubeconfig to an answer', () => {
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
