import assert from 'node:assert/strict';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { getRequest } from '../../src/proto/requests.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { deferred, get, sink } from '../world/heard.ts';
import { certificates, startServer } from '../world/http-server.ts';
import { access, fetched, transportTo } from './transport-server.ts';

/** What is heard of a request to this server. */
async function asked(t: TestContext, url: string): Promise<readonly string[]> {
  const authorize = async () => ({ headers: {}, tls: {}, agent: null });
  const transport = new HttpTransport(
    { server: url, authorize, rejected: () => {} },
    'taintmgr/test',
  );
  t.after(() => transport.close());
  const heard = sink();
  transport.send(getRequest('/'), heard);
  await heard.over;
  return heard.lines;
}

/** A server that answers every request with these bytes, again and again. */
async function startRaw(t: TestContext, again: string): Promise<string> {
  const server = net.createServer((socket) => {
    const flood = Buffer.from(again.repeat(Math.ceil(65_536 / again.length)));
    const pour = (): void => {
      while (!socket.destroyed && socket.write(flood)) {}
    };
    socket.on('error', () => {}).on('drain', pour);
    socket.once('data', pour);
    sockets.add(socket);
  });
  const sockets = new Set<net.Socket>();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('an answer over HTTP/1.1 that is announced without end', () => {
  const limit = { timeout: 20_000 };
  for (const line of ['100 Continue', '102 Processing', '103 Early Hints\r\nlink: </a>']) {
    it(`fails: ${line.slice(0, 3)}`, limit, async (t) => {
      const place = await startRaw(t, `HTTP/1.1 ${line}\r\n\r\n`);
      const lines = await asked(t, `http://${place}`);
      assert.deepEqual(lines, ['failed the answer is announced more than 100 times']);
    });
  }

  it('fails at once where the server goes over to another protocol', limit, async (t) => {
    const line = '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c';
    const place = await startRaw(t, `HTTP/1.1 ${line}\r\n\r\n`);
    const lines = await asked(t, `http://${place}`);
    assert.deepEqual(lines, ['failed the server goes over to another protocol']);
  });

  it('is one all the same after a few times', async (t) => {
    const server = await startServer(t, (_, response) => {
      for (let n = 0; n < 20; n++) response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.end('ok');
    });
    const lines = await asked(t, server.url);
    assert.deepEqual(lines, ['head 200', 'ok', 'end']);
  });
});

describe('a connection over HTTP/1.1 that nobody needs any more when it is made', () => {
  /** A server that resets its first connection where `resets`, and a request that was hung up meanwhile. */
  async function hungUp(t: TestContext, resets: boolean) {
    const [accepted, closed] = [deferred(), deferred()];
    const server = https.createServer(certificates.server, (_, response) => response.end());
    server.once('connection', (socket: net.Socket) => {
      accepted.resolve();
      socket.once('close', closed.resolve).on('error', () => {});
      if (resets) server.once('secureConnection', () => socket.resetAndDestroy());
    });
    t.after(() => server.close().closeAllConnections());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const transport = transportTo(t, access(`https://127.0.0.1:${port}`));
    const hangUp = transport.send(get('/'), sink());
    await accepted.promise;
    hangUp();
    await closed.promise;
    return transport;
  }

  it('is closed, so that it keeps no process alive', { timeout: 20_000 }, async (t) => {
    await hungUp(t, false);
  });

  it('may break without a word', { timeout: 20_000 }, async (t) => {
    assert.deepEqual(await fetched(await hungUp(t, true), get('/')), ['head 200', 'end']);
  });
});
