import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getRequest } from '../../src/proto/requests.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
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
