import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { seededRandom } from '@taintmgr/sim-cluster';
import { type Handler, textAnswer } from '../../src/server/answer.ts';
import type { DropReason } from '../../src/server/connections.ts';
import { openGate } from '../../src/server/gate.ts';
import { type StatusServerOptions, serverLimits } from '../../src/server/server.ts';
import { ask } from '../harness/https-client.ts';

import { closed, connectTo, start } from './flooded.ts';

// What somebody can do who may reach the port and nothing else, with real sockets.

async function openIdle(t: TestContext, port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.on('error', () => {}).resume();
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

/** Writes this over TLS at once; what comes back until the server hangs up. */
async function speak(port: number, text: string): Promise<string> {
  const socket = await connectTo(port, 'TLS');
  socket.write(text);
  return await heardOf(socket);
}

/** Writes first one text, then another again and again as fast as that is taken. */
async function pour(socket: Socket, first: string, again: string): Promise<string> {
  const heard = heardOf(socket);
  socket.on('drain', () => socket.write(again));
  socket.write(first + again);
  return await heard;
}

/** What comes until it is over. */
async function heardOf(socket: Socket): Promise<string> {
  let heard = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    heard += part;
  });
  await closed(socket);
  return heard;
}

function requests(count: number, tokenOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => {
    return `GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tokenOf(index)}\r\n\r\n`;
  }).join('');
}

describe('1,000 connections that say nothing', () => {
  it('make room for one who speaks, the oldest of them first', async (t) => {
    const server = await start(t, { max: 200 });
    const sockets = await openIdle(t, server.port, 1000);
    assert.equal((await ask(server.port, '/livez')).body, 'ok');
    const first = sockets[0] ?? assert.fail();
    await closed(first);
    assert.deepEqual(new Set(server.drops), new Set(['crowded']));
  });

  it('are ended when their time for the handshake is over', async (t) => {
    const stageMsMax = { ...serverLimits.stageMsMax, opening: 1000 };
    const server = await start(t, { stageMsMax, max: 1000 });
    const sockets = await openIdle(t, server.port, 1000);
    await Promise.all(sockets.map(closed));
    assert.deepEqual(server.drops, Array(1000).fill('opening'));
  });

  it('cannot push out somebody who has said who he is, while he asks', async (t) => {
    let answer = (): void => {};
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow = async (): Promise<ReturnType<typeof textAnswer>> => {
      asked();
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return textAnswer('late');
    };
    const routes = new Map([['/metrics', slow]]);
    const gate: StatusServerOptions['gate'] = async () => ({ isKnown: true, refusal: null });
    const server = await start(t, { max: 2 }, { routes, gate });
    const reply = ask(server.port, '/metrics');
    await isAsked;
    await openIdle(t, server.port, 5);
    answer();
    assert.equal((await reply).body, 'late');
  });
});

describe('a handshake that never ends', () => {
  it('is given up, however slowly it goes on', async (t) => {
    const stageMsMax = { ...serverLimits.stageMsMax, opening: 200 };
    const server = await start(t, { stageMsMax });
    const [socket = assert.fail()] = await openIdle(t, server.port, 1);
    // The head of a record, of a ClientHello in it, and then its bytes, one by one.
    socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]));
    const drip = setInterval(() => socket.write(Buffer.from([0])), 10);
    t.after(() => clearInterval(drip));
    await closed(socket);
    assert.deepEqual(server.drops, ['opening']);
  });
});

describe('50 connections with 900 requests at once, each with a token of its own', () => {
  it('are read as far as the first of them, and the API server is asked of few', async (t) => {
    const server = await start(t, {});
    const all = Array.from({ length: 50 }, (_, connection) =>
      speak(
        server.port,
        requests(900, (index) => `random-${connection}-${index}`),
      ),
    );
    const answers = await Promise.all(all);
    // Where the reset overtakes it, nothing is heard of the answer.
    for (const answer of answers)
      assert.match(answer, /^(HTTP\/1\.1 (401|429) ((?!HTTP)[\s\S])*)?$/);
    assert.deepEqual(new Set(server.drops), new Set(['excess']));
    // No more than the first request of each of them; how many of these, Reviews decides.
    assert.ok(server.reviewed.length <= 50, String(server.reviewed.length));
    assert.equal(server.served.count, 0);
  });

  it('do not keep out somebody who was let in before, with a new token too', async (t) => {
    const server = await start(t, {}, { host: '::' });
    const headers = { authorization: 'Bearer good' };
    const mine = { host: '::1', headers };
    assert.equal((await ask(server.port, '/metrics', mine)).body, 'metrics');
    const flood = Array.from({ length: 50 }, (_, index) =>
      speak(
        server.port,
        requests(2, (n) => `${index}-${n}`),
      ),
    );
    assert.ok((await Promise.all(flood)).some((answer) => answer.includes(' 429 ')));
    headers.authorization = 'Bearer good-rotated';
    assert.equal((await ask(server.port, '/metrics', mine)).body, 'metrics');
  });
});

describe('a connection', () => {
  it('of somebody unknown carries one request', async (t) => {
    const server = await start(t, {});
    for (const credential of ['', 'Authorization: Bearer bad\r\n']) {
      const head = `GET /livez HTTP/1.1\r\nHost: a\r\n${credential}\r\n`;
      assert.match(
        await speak(server.port, head),
        /^HTTP\/1\.1 (200|401)[\s\S]*\r\nconnection: close\r\n/i,
      );
    }
    assert.deepEqual(server.drops, []);
  });

  it('of somebody unknown carries no second one, whenever that comes', async (t) => {
    const server = await start(t, {});
    const socket = await connectTo(server.port, 'TLS', true);
    t.after(() => socket.destroy());
    socket.write(requests(2, (index) => `bad-${index}`));
    await once(socket.resume(), 'end');
    socket.write(requests(2, (index) => `late-${index}`));
    for (let turns = 0; turns < 3; turns += 1) await ask(server.port, '/livez');
    assert.deepEqual(server.reviewed, ['bad-0']);
  });

  it('of somebody known carries many, one after the other', async (t) => {
    const server = await start(t, {});
    const socket = await connectTo(server.port, 'TLS');
    t.after(() => socket.destroy());
    for (let count = 0; count < 100; count += 1) {
      socket.write(requests(1, () => 'good'));
      const [part] = await once(socket, 'data');
      assert.match(String(part), /^HTTP\/1\.1 200 [\s\S]*metrics$/);
    }
    assert.deepEqual([server.served.count, server.drops.length], [100, 0]);
    let heard = '';
    socket.on('data', (part) => {
      heard += part;
    });
    socket.write(requests(50, () => 'good'));
    while (heard.split('HTTP/1.1 200').length <= 50) await once(socket, 'data');
    assert.deepEqual([server.served.count, server.mostAtOnce()], [150, 1]);
  });

  it('is ended soon after its last answer', async (t) => {
    const stageMsMax = { ...serverLimits.stageMsMax, ending: 50 };
    let onDrop = (_: DropReason): void => {};
    const dropped = new Promise<DropReason>((resolve) => {
      onDrop = resolve;
    });
    const server = await start(t, { stageMsMax }, { onDrop });
    const socket = await connectTo(server.port, 'TLS', true);
    t.after(() => socket.destroy());
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    const [part] = await once(socket, 'data');
    assert.match(String(part), /connection: close\r\n[\s\S]*ok$/i);
    assert.equal(await dropped, 'ending');
  });

  it('of somebody known carries no other request after a body', async (t) => {
    const server = await start(t, {});
    const token = 'Authorization: Bearer good\r\n';
    const body = requests(1, () => 'good');
    const head = `GET /metrics HTTP/1.1\r\nHost: a\r\n${token}Content-Length: ${body.length}\r\n\r\n`;
    assert.match(await speak(server.port, head + body), /connection: close\r\n[\s\S]*metrics$/i);
    assert.equal(server.served.count, 1);
  });

  const stages: readonly (readonly [stage: DropReason, text: string, answer: RegExp])[] = [
    ['request', 'GET / HT', /^$/],
    ['answer', 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n', /^$/],
    ['idle', 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n', /ok$/],
  ];
  for (const [stage, text, answer] of stages) {
    it(`whose ${stage} never comes is ended`, async (t) => {
      const stageMsMax = { ...serverLimits.stageMsMax, [stage]: 50 };
      const never = new Promise<never>(() => {});
      const routes = new Map<string, Handler>([
        ['/never', () => never],
        ['/livez', () => textAnswer('ok')],
      ]);
      const gate: StatusServerOptions['gate'] = async () => ({ isKnown: true, refusal: null });
      const server = await start(t, { stageMsMax }, { routes, gate });
      assert.match(await speak(server.port, text), answer);
      assert.deepEqual(server.drops, [stage]);
    });
  }
});

describe('a client that sends without end', () => {
  const head = 'GET /livez HTTP/1.1\r\nHost: a\r\n';
  const much = 'x'.repeat(50_000);
  const shapes: Readonly<Record<string, readonly [first: string, again: string]>> = {
    'empty lines': ['', '\r\n'.repeat(30_000)],
    'one header': [`${head}X: `, much],
    headers: [head, 'a: b\r\n'.repeat(9000)],
    'a body': [`${head}Content-Length: 1000000000\r\n\r\n`, much],
    'a body in chunks': [`${head}Transfer-Encoding: chunked\r\n\r\n`, `c350\r\n${much}\r\n`],
    requests: [`${head}\r\n`, `${head}\r\n`.repeat(900)],
  };
  for (const how of ['TLS', 'HTTP']) {
    for (const [shape, [first, again]] of Object.entries(shapes)) {
      it(`is hung up on soon, with ${shape} over ${how}`, async (t) => {
        const server = await start(t, {}, how === 'HTTP' ? { tls: null, gate: openGate } : {});
        await pour(await connectTo(server.port, how), first, again);
        // Node has a limit for the names and values of headers, and says so to us in no way.
        const isHead = shape.includes('header') && server.drops.length === 0;
        assert.deepEqual(server.drops, isHead ? [] : ['excess']);
      });
    }
  }

  it('is hung up on before TLS begins', async (t) => {
    const server = await start(t, { perSecond: 1, burst: 1 });
    const waits = await connectTo(server.port, 'HTTP');
    t.after(() => waits.destroy());
    waits.write('x');
    await pour(await connectTo(server.port, 'HTTP'), much, much);
    assert.deepEqual(server.drops.at(-1), 'excess');
  });
});

describe('bytes of whatever kind', () => {
  for (const how of ['TLS', 'HTTP']) {
    it(`do no harm to a server that speaks ${how}`, async (t) => {
      const limits = { perSecond: 1000, burst: 1000 };
      const server = await start(t, limits, how === 'HTTP' ? { tls: null, gate: openGate } : {});
      const random = seededRandom(1);
      const beginnings = ['', '\x16\x03\x01\x02\x00', 'GET /livez HTTP/1.1\r\n', '\r\n\r\n\r\n'];
      const one = async (index: number): Promise<void> => {
        const [socket = assert.fail()] = await openIdle(t, server.port, 1);
        const noise = Buffer.from(Array.from({ length: 300 }, () => Math.floor(random() * 256)));
        socket.write(Buffer.concat([Buffer.from(beginnings[index % 4] ?? '', 'latin1'), noise]));
        if (index % 3 === 0) socket.resetAndDestroy();
        else socket.end();
        await closed(socket);
      };
      await Promise.all(Array.from({ length: 200 }, (_, index) => one(index)));
      const { port } = server;
      const answer = async (): Promise<string> =>
        how === 'TLS'
          ? (await ask(port, '/livez')).body
          : (await fetch(`http://127.0.0.1:${port}/livez`)).text();
      assert.equal(await answer(), 'ok');
    });
  }
});

describe('without TLS', () => {
  it('the same bounds hold', async (t) => {
    const server = await start(t, { max: 100 }, { tls: null, gate: openGate });
    await openIdle(t, server.port, 1000);
    const reply = await fetch(`http://127.0.0.1:${server.port}/livez`);
    assert.deepEqual([await reply.text(), reply.headers.get('connection')], ['ok', 'close']);
  });
});

describe('where it listens', () => {
  for (const host of ['::', '0.0.0.0']) {
    it(`${host} is reached over both families`, async (t) => {
      const server = await start(t, {}, { tls: null, gate: openGate, host });
      for (const at of ['127.0.0.1', '[::1]']) {
        assert.equal(await (await fetch(`http://${at}:${server.port}/livez`)).text(), 'ok');
      }
    });
  }
});
