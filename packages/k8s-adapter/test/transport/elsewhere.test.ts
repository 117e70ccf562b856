// Requests to other servers than the API's: without credentials, within a time limit.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { get, sink } from '../world/heard.ts';

/** What a server elsewhere is asked, and what is heard of it. */
async function ask(
  path: string,
  answer: RequestListener,
  timeoutMs = 60_000,
): Promise<readonly string[]> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const authorize = () => assert.fail('nobody logs in');
  const access = { server: 'https://api.invalid', authorize, rejected: () => {} };
  const transport = new HttpTransport(access, 'taintmgr/test');
  const heard = sink();
  const dates: unknown[] = [];
  const elsewhere = { url: `http://127.0.0.1:${port}/prefix/`, timeoutMs };
  const head = (status: number, headers: object): void => {
    dates.push(...Object.keys(headers));
    heard.lines.push(`head ${status}`);
  };
  const data = (chunk: Uint8Array | string): void => {
    heard.lines.push(Buffer.from(chunk).toString());
  };
  transport.send({ ...get(path), elsewhere }, { ...heard, head, data });
  await heard.over;
  transport.close();
  server.closeAllConnections();
  server.close();
  assert.deepEqual(dates, []);
  return heard.lines;
}

describe('a request to another server', () => {
  it('carries no credentials, and its headers say nothing of the cluster', async () => {
    const lines = await ask('/api/v1/query?query=up', ({ url, headers }, response) => {
      response.end(`${url} ${headers.authorization ?? 'nobody'}`);
    });
    assert.deepEqual(lines, ['head 200', '/prefix/api/v1/query?query=up nobody', 'end']);
  });

  it('follows no redirect', async () => {
    const lines = await ask('/', (_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    assert.match(lines.join(), /^failed /);
  });

  it('ends when its time is over', async () => {
    const lines = await ask('/', () => {}, 1000);
    assert.deepEqual(lines, ['failed no answer within 1s']);
  });

  it('waits for longer than a timer of the runtime can', async () => {
    const lines = await ask('/', (_, response) => void response.end('late'), 2 ** 31);
    assert.deepEqual(lines, ['head 200', 'late', 'end']);
  });

  it('says why nobody answers', async () => {
    const lines = await ask('/', ({ socket }) => socket.destroy());
    assert.doesNotMatch(lines.join(), /fetch failed/);
    assert.match(lines.join(), /^failed .+/);
  });
});
