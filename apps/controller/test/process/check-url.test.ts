import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { checkUrl } from '../../src/process/check-url.ts';

const impatient = { patienceMs: 0, pauseMs: 1 };

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A server that answers these, the last one for ever. */
async function serve(t: TestContext, ...answers: readonly Answer[]): Promise<string> {
  let asked = 0;
  const server = createHttpServer((_request, response) => {
    const { status, body } = answers[Math.min(asked, answers.length - 1)] ?? assert.fail();
    asked += 1;
    response.writeHead(status, { connection: 'close', location: '/elsewhere' }).end(body);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
}

describe('--check-url', () => {
  it('says what a controller that is ready says', async (t) => {
    const url = await serve(t, { status: 200, body: 'ok' });
    assert.equal(await checkUrl(url, impatient), '200 ok');
  });

  it('asks again until it is ready', async (t) => {
    const url = await serve(t, { status: 500, body: 'no' }, { status: 200, body: 'ok' });
    assert.equal(await checkUrl(url, { patienceMs: 60_000, pauseMs: 1 }), '200 ok');
  });

  it('fails with the answer of one that is not, in one line', async (t) => {
    const url = await serve(t, { status: 500, body: '[-]caches not synced\n[+]lease ok' });
    await assert.rejects(checkUrl(url, impatient), {
      name: 'CheckError',
      message: `${url}: 500 [-]caches not synced, want 200; the log of the controller says why`,
    });
  });

  it('goes nowhere else', async (t) => {
    const url = await serve(t, { status: 302, body: '' });
    await assert.rejects(checkUrl(url, impatient), /unexpected redirect, want 200/);
  });

  it('fails where nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await assert.rejects(checkUrl(`http://127.0.0.1:${port}/`, impatient), /ECONNREFUSED/);
  });
});
