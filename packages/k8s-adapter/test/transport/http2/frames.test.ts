// What a connection holds for bytes that bring nothing, frame type by frame type.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flags, frameTypes, writeFrame } from '../../../src/transport/http2/frames.ts';
import { ByteWriter } from '../../../src/transport/http2/hpack.ts';
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
  const manySettings = Buffer.concat(
    new Array<Buffer>(2000).fill(Buffer.from([0, 4, 0, 0, 255, 255])),
  );
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
    ['headers in the middle', head, frame(headers, 1, ok, endHeaders)],
    ['DATA that is padding', head, frame(data, 1, [9, ...Buffer.alloc(9)], flags.padded)],
    ['SETTINGS that are many', head, frame(settings, 0, manySettings)],
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
      ...['headers in the middle', 'DATA that is padding'],
    ]);
  });
});

describe('a server that does not keep to what it may send', () => {
  const part = frame(frameTypes.data, 1, Buffer.alloc(16_384));
  const forNobody = frame(frameTypes.data, 999, Buffer.alloc(16_384));
  const settings = (id: number, value: number, count: number): Uint8Array => {
    const one = Buffer.alloc(6);
    one.writeUInt16BE(id);
    one.writeUInt32BE(value, 2);
    return frame(frameTypes.settings, 0, Buffer.concat(new Array<Buffer>(count).fill(one)));
  };
  for (const [what, frames, times, why] of [
    ['more data at once than fits into its window', part, 257, 'more data than it may send'],
    ['data for nobody', forNobody, 257, 'unrequested data'],
    ['thousands of settings', settings(4, 65_535, 2700), 4, 'frames without end'],
    ['frames that are too long for HTTP/2', settings(5, 2 ** 24, 1), 1, 'frames of 16777216 bytes'],
    ['frames that are too short for it', settings(5, 16_383, 1), 1, 'frames of 16383 bytes'],
  ] as const) {
    it(`is left: ${what}`, () => {
      const { streams } = connection();
      for (let n = 0; n < 99; n++) ask(streams, 'watch');
      streams.receive(frame(frameTypes.headers, 1, ok, endHeaders));
      const chunk = Buffer.concat(new Array<Uint8Array>(times).fill(frames));
      assert.throws(() => streams.receive(chunk), new RegExp(`^ProtocolError: ${why}`));
    });
  }

  it('is kept where what it sends was on its way when nobody waited any more', () => {
    const { streams, lines } = connection();
    streams.receive(frame(frameTypes.headers, 1, ok, endHeaders));
    streams.cancel(1);
    for (let n = 0; n < 256; n++) streams.receive(part);
    ask(streams, 'watch');
    streams.receive(frame(frameTypes.headers, 3, ok, endHeaders));
    assert.deepEqual(lines, ['summary 200', 'watch 200']);
  });
});

/** A block whose headers are literals that nobody learns. */
function block(...headers: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (one: string): number[] => [one.length, ...Buffer.from(one)];
  return Buffer.from(headers.flatMap(([name, value]) => [0, ...text(name), ...text(value)]));
}

describe('an answer that is none', () => {
  const status = (value: string): Buffer => block([':status', value]);
  const twice = Buffer.concat([status('200'), status('204')]);
  const [head, early] = [Buffer.from(ok), status('103')];
  const { headers, data } = frameTypes;
  const one = (bytes: Uint8Array, set: number = endHeaders) => frame(headers, 1, bytes, set);
  const answers: readonly (readonly [what: string, frames: readonly Uint8Array[], why: string])[] =
    [
      ...['1e400', '1e2', '0x1ff', '20', '2000', '-200', '', ' 200', '099', '2OO', '101'].map(
        (text) =>
          [
            `the status ${JSON.stringify(text)}`,
            [one(status(text))],
            `an answer with the status ${JSON.stringify(text)}`,
          ] as const,
      ),
      [
        'a long status',
        [one(status('9'.repeat(99)))],
        `an answer with the status "${'9'.repeat(20)}"`,
      ],
      ['no status', [one(block(['a', 'b']))], 'an answer without a status'],
      ['two statuses', [one(twice)], 'an answer with two statuses'],
      ['data first', [frame(data, 1, [1])], 'an answer without a head'],
      ['its end first', [frame(data, 1, [], endStream)], 'an answer without a head'],
      [
        'no more than its announcement',
        [one(early, endHeaders + endStream)],
        'an answer without a head',
      ],
      [
        'headers in the middle',
        [one(head), one(block(['a', 'b']))],
        'headers in the middle of an answer',
      ],
      [
        'announcements without end',
        new Array<Uint8Array>(101).fill(one(early)),
        'the answer is announced more than 100 times',
      ],
    ];
  for (const [what, frames, why] of answers) {
    it(`ends its own stream: ${what}`, () => {
      const { streams, lines } = connection();
      ask(streams, 'watch');
      streams.receive(Buffer.concat(frames));
      streams.receive(frame(headers, 3, ok, endHeaders));
      const heard = lines.filter((line) => line !== 'summary 200');
      assert.deepEqual(heard, [`summary failed: ${why}`, 'watch 200']);
      const sent = Buffer.from(streams.takeOutput() ?? []);
      const isReset = sent.includes(Buffer.from(frame(frameTypes.reset, 1, [0, 0, 0, 1])));
      assert.equal(isReset, true, 'with PROTOCOL_ERROR');
    });
  }

  it('is one after a hundred announcements, and with trailers', () => {
    const { streams, lines } = connection();
    streams.receive(Buffer.concat(new Array<Uint8Array>(100).fill(one(early))));
    streams.receive(Buffer.concat([one(head), one(block(['a', 'b']), endHeaders + endStream)]));
    assert.deepEqual(lines, ['summary 200', 'summary end']);
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

  for (const [what, name, value] of [
    ['the name', 100_000, 1],
    ['the value', 1, 1_000_000],
    ['name and value', 70_000, 70_000],
  ] as const) {
    for (const first of [0x40, 0x00]) {
      const text = (length: number): Buffer => {
        const rest = length - 127;
        const number = [rest & 0x7f, (rest >> 7) & 0x7f, (rest >> 14) & 0x7f].map((n) => n | 0x80);
        const bytes = length < 127 ? [length] : [0x7f, ...number, rest >> 21];
        return Buffer.concat([Buffer.from(bytes), Buffer.alloc(length, 'x')]);
      };
      it(`do so too with a long header, ${what}, where the first byte is ${first}`, () => {
        const { streams, lines } = connection();
        ask(streams, 'watch');
        const long = [Buffer.from([first]), text(name), text(value)];
        const frames = inFrames(1, Buffer.concat([Buffer.from(ok), ...long, Buffer.from(ok)]));
        const before = bytesHeld();
        streams.receive(frames);
        const held = bytesHeld() - before;
        assert.ok(held < 1024 * 1024, `${held} bytes held`);
        streams.receive(frame(frameTypes.headers, 3, ok, endHeaders));
        assert.deepEqual(lines, ['summary failed: headers of more than 16384 bytes', 'watch 200']);
      });
    }
  }

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
