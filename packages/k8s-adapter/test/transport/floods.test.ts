import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { getRequest } from '../../src/proto/requests.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { sink } from '../world/heard.ts';
import { certificates, startHttp2Server, startServer } from '../world/http-server.ts';

const servers = [
  ['HTTP/1.1', startServer],
  ['HTTP/2', startHttp2Server],
] as const;

describe('a flood of a watch', () => {
  for (const [name, start] of servers) {
    it(`lets everybody else have his turn over ${name}`, async (t) => {
      const [sent, event] = [16 * 2 ** 20, Buffer.alloc(2 ** 20)];
      const server = await start(t, (_, response) => {
        for (let at = 0; at < sent; at += event.length) response.write(event);
        response.end();
      });
      const tls = { ca: certificates.ca, servername: 'api.test' };
      const authorize = async () => ({ headers: {}, tls, agent: null });
      const access = { server: server.url, authorize, rejected: () => {} };
      const transport = new HttpTransport(access, 'taintmgr/test');
      t.after(() => transport.close());
      let [turn, most, all, isOver] = [0, 0, 0, false];
      const data = (chunk: Uint8Array | string): void => {
        turn += chunk.length;
        all += chunk.length;
        most = Math.max(most, turn);
      };
      const end = (): void => {
        isOver = true;
      };
      const failed = (message: string): void => assert.fail(message);
      const none = (): void => {};
      transport.send(getRequest('/api/v1/pods', { watch: 'true' }), {
        head: none,
        alive: none,
        data,
        end,
        failed,
      });
      while (!isOver) {
        turn = 0;
        await new Promise(setImmediate);
      }
      assert.equal(all, sent);
      assert.ok(most <= 128 * 1024, `${most} bytes`);
    });
  }
});

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
