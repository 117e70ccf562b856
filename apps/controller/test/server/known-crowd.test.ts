import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Handler, textAnswer } from '../../src/server/answer.ts';
import type { StatusServerOptions } from '../../src/server/server.ts';

import { closed, connectTo, start } from './flooded.ts';

describe('a peer with many connections that are known', () => {
  const somewhere = { host: '127.0.0.1', localAddress: '127.0.0.2' };
  const gate: StatusServerOptions['gate'] = async () => ({ isKnown: true, refusal: null });
  const routes = new Map<string, Handler>([
    ['/livez', () => textAnswer('ok')],
    ['/slow', () => new Promise<never>(() => {})],
  ]);

  const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

  /** What comes, or '' where the server hangs up. */
  async function answerTo(socket: Socket, path: string): Promise<string> {
    const heard = once(socket, 'data').then(String);
    socket.write(requestFor(path));
    return await Promise.race([heard, closed(socket).then(() => '')]);
  }

  async function crowd(t: TestContext, port: number, count: number): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let number = 0; number < count; number++) {
      const socket = connect({ ...somewhere, port });
      t.after(() => socket.destroy());
      assert.match(await answerTo(socket, '/livez'), /200 OK/);
      sockets.push(socket);
    }
    return sockets;
  }

  it('keeps no place from another one by answers that it does not take', async (t) => {
    const server = await start(t, { max: 3 }, { routes, gate, tls: null });
    const sockets = await crowd(t, server.port, 3);
    for (const socket of sockets) socket.write(requestFor('/slow'));
    // Those were read before whatever is read next.
    await turn();
    const other = await connectTo(server.port, 'TCP');
    assert.match(await answerTo(other, '/livez'), /200 OK/);
    assert.deepEqual(server.drops, ['crowded']);
  });

  it('makes room before another one that waits for its next request', async (t) => {
    const server = await start(t, { max: 3 }, { routes, gate, tls: null });
    const other = await connectTo(server.port, 'TCP');
    assert.match(await answerTo(other, '/livez'), /200 OK/);
    await crowd(t, server.port, 3);
    assert.match(await answerTo(other, '/livez'), /200 OK/);
    assert.deepEqual(server.drops, ['crowded']);
    other.destroy();
  });
});
