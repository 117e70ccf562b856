import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Call } from '../../src/transport/call.ts';
import { ByteWriter } from '../../src/transport/http2/byte-writer.ts';
import { flags, frameTypes, writeFrame } from '../../src/transport/http2/frames.ts';
import { HeaderEncoder } from '../../src/transport/http2/header-encoder.ts';
import { defaultHttp2Timing, Http2Connection } from '../../src/transport/http2-connection.ts';
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
