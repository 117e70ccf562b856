// What a connection holds for bytes that bring nothing, frame type by frame type.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteWriter } from '../../../src/transport/http2/byte-writer.ts';
import { flags, frameTypes, writeFrame } from '../../../src/transport/http2/frames.ts';
import { Streams } from '../../../src/transport/http2/streams.ts';
import { bytesHeld } from '../../world/bytes-held.ts';

const { endHeaders, endStream } = flags;

function frame(type: number, stream: number, payload: Uint8Array | number[], set = 0): Uint8Array {
  const out = new ByteWriter();
  writeFrame(out, { type, stream, flags: set, length: payload.length });
  out.append(Uint8Array.from(payload));
  return Uint8Array.from(out.bytes);
}

/** A connection with one request under way, and what is heard of its answers. */
function connection(): { readonly streams: Streams<string>; readonly lines: string[] } {
  const lines: string[] = [];
  const streams = new Streams<string>({
    head: (asker, status) => lines.push(`${asker} ${status}`),
    data: () => {},
    end: (asker) => lines.push(`${asker} end`),
    failed: (asker, message) => lines.push(`${asker} failed: ${message}`),
    output: () => {},
    noMore: () => {},
    pong: () => {},
    settings: () => {},
  });
  ask(streams, 'summary');
  return { streams, lines };
}

function ask(streams: Streams<string>, asker: string): void {
  streams.request({ path: '/', shared: [[':method', 'GET']], bodyBytes: null }, null, asker);
}

const ok = [0x88];
/** A header of 4,000 letters, and after it so many references to it, of one byte each. */
function bomb(references: number): Uint8Array {
  const length = [0x7f, ((4000 - 127) & 0x7f) | 0x80, (4000 - 127) >> 7];
  const literal = [...ok, 0x40, 1, 0x61, ...length, ...Buffer.alloc(4000, 'A')];
  return Buffer.concat([Uint8Array.from(literal), Buffer.alloc(references, 0x80 | 62)]);
}

/** A block of headers in frames of 16 KiB. */
function inFrames(stream: number, block: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < block.length; at += 16_384) {
    const isLast = at + 16_384 >= block.length;
    const type = at === 0 ? frameTypes.headers : frameTypes.continuation;
    parts.push(frame(type, stream, block.subarray(at, at + 16_384), isLast ? endHeaders : 0));
  }
  return Buffer.concat(parts);
}

describe('bytes held for bytes received', () => {
  const head = frame(frameTypes.headers, 1, ok, endHeaders);
  const unended = frame(frameTypes.headers, 1, ok);
  const { data, headers, reset, settings, ping, goAway, windowUpdate, continuation } = frameTypes;
  const floods: readonly [string, Uint8Array, Uint8Array][] = [
    ['DATA', head, frame(data, 1, Buffer.alloc(16_384))],
    ['DATA of one byte', head, frame(data, 1, [1])],
    ['empty DATA', head, frame(data, 1, [])],
    ['DATA for nobody', head, frame(data, 9, Buffer.alloc(16_384))],
    ['HEADERS for nobody', head, frame(headers, 9, ok, endHeaders + endStream)],
    [
      'HEADERS that only announce',
      Buffer.alloc(0),
      frame(headers, 1, [0x08, 3, 49, 48, 51], endHeaders),
    ],
    ['HEADERS that are learnt', head, frame(headers, 9, [0x40, 1, 97, 2, 98, 99], endHeaders)],
    ['PRIORITY', head, frame(2, 1, [0, 0, 0, 0, 1])],
    ['RST_STREAM', head, frame(reset, 9, [0, 0, 0, 8])],
    ['SETTINGS', head, frame(settings, 0, [])],
    ['SETTINGS that change', head, frame(settings, 0, [0, 3, 0, 0, 0, 100])],
    ['SETTINGS that are taken', head, frame(settings, 0, [], flags.ack)],
    ['PING', head, frame(ping, 0, Buffer.alloc(8))],
    ['PING that answers none of ours', head, frame(ping, 0, Buffer.alloc(8), flags.ack)],
    ['GOAWAY', head, frame(goAway, 0, [0, 0, 0, 1, 0, 0, 0, 0])],
    ['WINDOW_UPDATE', head, frame(windowUpdate, 0, [0, 0, 0, 1])],
    ['CONTINUATION', unended, frame(continuation, 1, Buffer.alloc(16_384))],
    ['CONTINUATION of one byte', unended, frame(continuation, 1, [0x88])],
    ['empty CONTINUATION', unended, frame(continuation, 1, [])],
    ['an endless header', unended, frame(continuation, 1, Buffer.alloc(16_384, 0x7f))],
    ['a frame that is unknown', head, frame(77, 1, [1, 2, 3])],
  ];
  /** Of 4 MiB received; what is being collected is among them. */
  const bytesHeldMax = 2 * 1024 * 1024;
  /** As TCP hands them on. */
  const chunkBytes = 64 * 1024;
  for (const [what, before, flood] of floods) {
    it(`do not grow with ${what}`, () => {
      const { streams } = connection();
      const chunk = Buffer.concat(new Array(Math.ceil(chunkBytes / flood.length)).fill(flood));
      streams.receive(before);
      const atFirst = bytesHeld();
      let received = 0;
      try {
        for (; received < 64 * chunkBytes; received += chunk.length) {
          streams.receive(Uint8Array.from(chunk));
          streams.takeOutput();
        }
      } catch (error) {
        assert.equal((error as Error).name, 'ProtocolError');
      }
      const held = bytesHeld() - atFirst;
      assert.ok(held < bytesHeldMax, `${held} bytes held for ${received} received`);
      assert.ok(streams.size <= 1);
    });
  }

  it('end with the connection where they bring nothing: who floods makes no work either', () => {
    const ended: string[] = [];
    for (const [what, before, flood] of floods) {
      const { streams } = connection();
      streams.receive(before);
      const chunk = Buffer.concat(
        new Array(12_000).fill(flood.length > 100 ? Buffer.alloc(0) : flood),
      );
      try {
        streams.receive(chunk);
      } catch {
        ended.push(what);
      }
    }
    const rest = [
      'PRIORITY',
      'RST_STREAM',
      'SETTINGS',
      'SETTINGS that change',
      'SETTINGS that are taken',
    ];
    assert.deepEqual(ended, [
      'empty DATA',
      ...['HEADERS for nobody', 'HEADERS that only announce', 'HEADERS that are learnt'],
      ...rest,
      ...['PING', 'PING that answers none of ours', 'GOAWAY', 'WINDOW_UPDATE'],
      ...['CONTINUATION of one byte', 'empty CONTINUATION', 'a frame that is unknown'],
    ]);
  });
});

describe('headers that are too many', () => {
  it('end their own stream: the others go on, and read what later ones refer to', () => {
    const { streams, lines } = connection();
    ask(streams, 'watch');
    const frames = inFrames(1, bomb(200_000));
    const before = bytesHeld();
    streams.receive(frames);
    const held = bytesHeld() - before;
    assert.ok(held < 1024 * 1024, `${held} bytes held`);
    // The status is a number that the table of all connections has, the other header one of this connection's.
    streams.receive(frame(frameTypes.headers, 3, [...ok, 0x80 | 62], endHeaders));
    assert.deepEqual(lines, ['summary failed: headers of more than 16384 bytes', 'watch 200']);
    const sent = Buffer.from(streams.takeOutput() ?? []);
    const cancelled = Buffer.from(frame(frameTypes.reset, 1, [0, 0, 0, 8]));
    assert.deepEqual(sent.subarray(-cancelled.length), cancelled);
  });

  it('do so too as an API server passes them on: 400 of a kilobyte', () => {
    const { streams, lines } = connection();
    ask(streams, 'watch');
    const header = [0, 1, 97, 0x7f, ((1000 - 127) & 0x7f) | 0x80, (1000 - 127) >> 7];
    const one = Buffer.concat([Uint8Array.from(header), Buffer.alloc(1000, 'x')]);
    const block = Buffer.concat([Uint8Array.from(ok), ...new Array<Buffer>(400).fill(one)]);
    streams.receive(inFrames(1, block));
    streams.receive(frame(frameTypes.headers, 3, ok, endHeaders));
    assert.deepEqual(lines, ['summary failed: headers of more than 16384 bytes', 'watch 200']);
  });
});
