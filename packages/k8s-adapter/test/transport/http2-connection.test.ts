import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Call } from '../../src/transport/call.ts';
import { flags, frameTypes, writeFrame } from '../../src/transport/http2/frames.ts';
import { ByteWriter, HeaderEncoder } from '../../src/transport/http2/hpack.ts';
import {
  defaultHttp2Timing,
  Http2Connection,
  ReadPause,
  RequestHeaders,
} from '../../src/transport/http2-connection.ts';
import { InputSink } from '../../src/transport/sink.ts';

const { endHeaders, endStream } = flags;
/** What our requests are numbered, in their order. */
const [watch, patch] = [1, 3];

/** A socket to somebody who only listens. */
async function socketTo(t: TestContext): Promise<net.Socket> {
  const server = net.createServer((peer) => peer.resume()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = net.connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

function frame(type: number, stream: number, payload: Uint8Array, set: number): Uint8Array {
  const out = new ByteWriter();
  writeFrame(out, { type, stream, flags: set, length: payload.length });
  out.append(payload);
  return Uint8Array.from(out.bytes);
}

function ok(stream: number): Uint8Array {
  const block = new ByteWriter();
  const encoder = new HeaderEncoder();
  encoder.begin(block);
  encoder.shared(block, ':status', '200');
  return frame(frameTypes.headers, stream, Uint8Array.from(block.bytes), endHeaders);
}

it('sends what an answer led to before more of a watch is told that came before it', async (t) => {
  const socket = await socketTo(t);
  const connection = new Http2Connection('api.test', socket, {
    timing: defaultHttp2Timing,
    onChange: () => {},
  });
  const order: string[] = [];
  const ask = (method: 'GET' | 'PATCH' | 'DELETE', path: string): void => {
    const sink = new InputSink(path, ({ kind }) => {
      if (kind === 'chunk' || kind === 'answer') order.push(`${method} ${kind}`);
      if (kind === 'answer') ask('DELETE', '/pods/a');
    });
    const request = { method, path, headers: {}, body: null };
    connection.carry(new Call(request, sink, { carry: () => {}, rejected: () => {} }));
  };
  ask('GET', '/pods?watch=true');
  ask('PATCH', '/pods/a/status');
  await turn();
  t.mock.method(socket, 'write', () => order.push('written'));

  // Two readings of the socket in one turn of the event loop.
  const part = frame(frameTypes.data, watch, new Uint8Array(10_000), 0);
  socket.emit('data', Buffer.concat([ok(watch), part, part]));
  const end = frame(frameTypes.data, patch, Buffer.from('{}'), endStream);
  socket.emit('data', Buffer.concat([ok(patch), end]));
  assert.deepEqual(order, ['GET chunk', 'PATCH answer']);
  await turn();
  assert.deepEqual(order.slice(2), ['written', 'GET chunk']);
});

it('ends with who does not read: answers to his frames do not pile up', async (t) => {
  const settings = frame(frameTypes.settings, 0, new Uint8Array(), 0);
  const flood = Buffer.concat(new Array<Uint8Array>(5000).fill(settings));
  let sent = 0;
  const server = net.createServer((peer) => {
    peer.pause();
    peer.on('error', () => {});
    const send = (): void => {
      while (sent < 64_000_000) {
        sent += flood.length;
        if (!peer.write(flood)) return void peer.once('drain', send);
      }
    };
    send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const socket = net.connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const connection = new Http2Connection('api.test', socket, {
    timing: { pingEvery: 100, idle: 60_000 },
    onChange: () => {},
  });
  let mostHeld = 0;
  socket.on('data', () => {
    mostHeld = Math.max(mostHeld, socket.writableLength);
  });
  const request = { method: 'GET', path: '/', headers: {}, body: null } as const;
  const carry = (call: Call): void => connection.carry(call);
  const heard = await new Promise<string>((resolve) => {
    const sink = new InputSink('a', (input) => resolve(JSON.stringify(input)));
    new Call(request, sink, { carry, rejected: () => {} }).start();
  });
  assert.match(heard, /frames without end/);
  assert.ok(mostHeld < 1_000_000, `${mostHeld} bytes`);
});

describe('while many answers are owed', () => {
  /** Asks so many patches of a connection whose clock stands still; `answer` brings the answers to the first of them. */
  async function asked(t: TestContext, patches: number, reads: readonly string[]) {
    const socket = await socketTo(t);
    let now = 0;
    const connection = new Http2Connection('api.test', socket, {
      timing: defaultHttp2Timing,
      onChange: () => {},
      clock: () => now,
    });
    const order: string[] = [];
    const ask = (method: 'GET' | 'PATCH', path: string): void => {
      const sink = new InputSink(path, ({ kind }) => order.push(`${path} ${kind}`));
      const request = { method, path, headers: {}, body: null };
      connection.carry(new Call(request, sink, { carry: () => {}, rejected: () => {} }));
    };
    for (let n = 0; n < patches; n++) ask('PATCH', `/pods/${n}`);
    for (const path of reads) ask('GET', path);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    t.mock.method(socket, 'pause', () => order.push('pause'));
    t.mock.method(socket, 'resume', () => order.push('resume'));
    await turn();
    now = 800;
    const answer = (n: number): boolean => {
      const stream = 1 + 2 * n;
      const end = frame(frameTypes.data, stream, Buffer.from('{}'), endStream);
      return socket.emit('data', Buffer.concat([ok(stream), end]));
    };
    return { order, answer };
  }

  it('reads on after a pause, in which more of them come', async (t) => {
    const { order, answer } = await asked(t, 10, []);
    answer(0);
    await turn();
    assert.deepEqual(order, ['/pods/0 answer']);
    answer(1);
    await turn();
    assert.deepEqual(order.slice(1), ['/pods/1 answer', 'pause']);
    // What the socket still held is taken in; it does not begin another pause.
    answer(2);
    await turn();
    t.mock.timers.tick(25);
    assert.deepEqual(order.slice(3), ['/pods/2 answer', 'resume']);
  });

  it('waits for answers to writes only: a list takes its time, and a watch has no end', async (t) => {
    const { order, answer } = await asked(t, 9, ['/pods?watch=true', '/pods', '/nodes']);
    for (const n of [0, 1, 2]) {
      answer(n);
      await turn();
    }
    assert.deepEqual(order, ['/pods/0 answer', '/pods/1 answer', '/pods/2 answer']);
  });
});

/** A pause after so many answers that each took so long, with so many more owed. */
function after(answers: number, took: number, owed: number): ReadPause {
  const pause = new ReadPause();
  for (let n = 0; n < answers + owed; n++) pause.begun();
  for (let n = 0; n < answers; n++) pause.ended(took);
  return pause;
}

it('waits for a third of what an answer takes, less what it was busy', () => {
  const table: readonly [string, took: number, owed: number, busy: number, pause: number][] = [
    ['eight are owed', 30, 8, 0, 10],
    ["fewer are owed: each is somebody's whole wait", 30, 7, 0, 0],
    ['the turn itself took a while', 30, 8, 4, 6],
    ['what is left of it is short', 30, 8, 8, 0],
    ['the turn took longer than that: what came piled up anyway', 30, 8, 12, 0],
    ['a quick server', 8, 50, 0, 0],
    ['a slow server', 250, 50, 0, 25],
  ];
  for (const [title, took, owed, busy, want] of table) {
    const pause = after(1000, took, owed);
    // What came before was long ago.
    let now = 1000;
    assert.equal(pause.next(now), 0, title);
    for (const _ of ['a pause', 'and another']) {
      now += busy;
      const waits = pause.next(now);
      assert.equal(Math.round(waits), want, title);
      now += waits;
    }
  }
});

it('begins without a pause, and ends with the burst', () => {
  const pause = after(0, 0, 20);
  assert.equal(pause.next(0), 0);
  assert.equal(pause.next(1), 0);
  // One answer says little.
  pause.ended(40);
  assert.equal(pause.next(1), 0);
  for (let n = 0; n < 11; n++) pause.ended(40);
  assert.ok(pause.next(1) > 0);
  pause.ended(40);
  assert.equal(pause.next(100), 0);
});

/** Plays a server that answers after `serviceMs`, each answer by itself; how long answers take at last. */
function settledMs(serviceMs: number, owed: number): number {
  const pause = new ReadPause();
  // Requests are spread over the time that one takes, and each is followed by another.
  const sent = Array.from({ length: owed }, (_, n) => -serviceMs + (n * serviceMs) / owed);
  for (const _ of sent) pause.begun();
  const took: number[] = [];
  for (let now = 0; now < 40 * serviceMs + 1000; ) {
    for (const [n, at] of sent.entries()) {
      if (at + serviceMs > now) continue;
      pause.ended(now - at);
      took.push(now - at);
      pause.begun();
      sent[n] = now;
    }
    const wait = pause.next(now);
    now = Math.max(now + wait, Math.min(...sent) + serviceMs);
  }
  const last = took.slice(-4 * owed);
  return last.reduce((sum, one) => sum + one, 0) / last.length;
}

it('never makes answers take more than half longer, as its pauses are part of what they take', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 100 }),
      (service, owed) => settledMs(service, owed) <= 1.5 * service + 1e-6,
    ),
  );
});

it('the headers of a request say what it is, and are the same list for all that are alike', () => {
  const all = new RequestHeaders('server:6443');
  const headers = { accept: 'application/json', 'x-group': ['a', 'b'], 'x-none': undefined };
  const post = { method: 'POST', path: '/a', headers, body: '{}' } as const;
  const body = new Uint8Array(2);
  const head = all.of(post, body);
  assert.deepEqual(head, {
    path: '/a',
    shared: [
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', 'server:6443'],
      ['accept', 'application/json'],
      ['x-group', 'a'],
      ['x-group', 'b'],
    ],
    bodyBytes: 2,
  });
  const other = all.of({ ...post, method: 'DELETE', path: '/b', body: null }, null);
  assert.deepEqual(other.shared[0], [':method', 'DELETE']);
  assert.deepEqual([other.path, other.bodyBytes], ['/b', null]);
  assert.equal(all.of({ ...post, path: '/c' }, body).shared, head.shared);
  assert.equal(all.of({ ...post, headers: { ...headers } }, body).shared === head.shared, false);
});
