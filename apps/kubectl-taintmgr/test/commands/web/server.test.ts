import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { Streams, startWeb, type WebServer } from '../../../src/commands/web/server.ts';
import { WhatIfAnswers } from '../../../src/commands/web/what-if.ts';

// Requests that no browser sends, as bytes: each has its answer, and the next one has too.

let web: WebServer;
let cookie = '';
before(async () => {
  web = await startWeb(0, {
    onEnter: () => {},
    page: { html: 'the page', policy: "default-src 'none'" },
    streams: new Streams(1),
    whatIf: new WhatIfAnswers({
      rerun: async () => 0,
      interrupt: new AbortController().signal,
      asked: () => ({ nodes: [], rules: 'taintmgr-controller', policies: [] }),
    }),
  });
});
after(() => web.close());

/** The status of the answer, and all of it; '' where the connection is closed without one. */
async function send(line: string, headers = ''): Promise<readonly [status: string, all: string]> {
  const { host, port } = new URL(web.address);
  const socket = connect(Number(port), '127.0.0.1');
  socket.end(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`);
  const all = await text(socket);
  return [/^HTTP\/1\.1 (\d+)/.exec(all)?.[1] ?? '', all];
}

const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

const odd: readonly (readonly [line: string, stranger: string, letIn: string, headers?: string])[] =
  [
    ['GET //', '403', '400'],
    ['GET //?token=a', '403', '400'],
    ['GET http://[', '403', '400'],
    ['GET http://127.0.0.1:99999/', '403', '400'],
    ['GET http://evil.example/', '403', '200'],
    ['GET *', '403', '404'],
    ['GET /%zz', '403', '404'],
    ['GET /what-if/%zz', '403', '404'],
    ['GET /what-if?event=%zz&where=%', '403', '400'],
    ['GET /', '403', '200', upgrade],
    ['OPTIONS *', '405', '405'],
    ['CONNECT evil.example:443', '', ''],
    ['GET /', '431', '431', `X-Long: ${'a'.repeat(17_000)}\r\n`],
  ];

describe('the server of the page', () => {
  for (const [line, stranger, letIn, headers = ''] of odd) {
    const shown = `${line}${headers && `, ${headers.slice(0, 20).trim()}`}`;
    it(`answers a stranger's ${shown} with ${stranger || 'nothing'}, and lives`, async () => {
      assert.equal((await send(line, headers))[0], stranger);
      assert.equal((await send('GET /'))[0], '403');
    });

    it(`answers ${shown} of whoever is let in with ${letIn || 'nothing'}, and lives`, async () => {
      cookie ||= await enter();
      assert.equal((await send(line, `${cookie}${headers}`))[0], letIn);
      assert.equal((await send('GET /', cookie))[0], '200');
    });
  }
});

describe('a page whose connections are taken', () => {
  it('is there for whoever comes next: those who say nothing give way, and then those who ask in vain', async () => {
    cookie ||= await enter();
    const { host, port } = new URL(web.address);
    const sockets = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => {}).resume();
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    assert.equal((await send('GET /', cookie))[0], '200');
    // Who was let in stays while others come.
    const stays = connect(Number(port), '127.0.0.1');
    stays.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n${cookie}\r\n`);
    assert.match(String((await once(stays, 'data'))[0]), / 200 /);
    const more = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
    for (const socket of more) {
      socket.on('error', () => {}).resume();
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    }
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    assert.equal((await send('GET /', cookie))[0], '200');
    stays.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${cookie}\r\n`);
    assert.match(await text(stays), / 200 /);
    for (const socket of [...sockets, ...more]) socket.destroy();
  });
});

/** The header that lets in from now on. */
async function enter(): Promise<string> {
  const [, all] = await send(`GET ${web.address.slice(web.address.indexOf('/?'))}`);
  const [, own] = /set-cookie: ([^;]*)/i.exec(all) ?? assert.fail(all);
  return `Cookie: ${own}\r\n`;
}
