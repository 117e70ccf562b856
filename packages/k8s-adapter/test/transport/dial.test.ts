import assert from 'node:assert/strict';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { ask, expected, startApi, tls, verified } from './tls-cluster.ts';

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
