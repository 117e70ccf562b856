import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Frame, FrameReader, writeFrame } from '../../../src/transport/http2/frames.ts';
import { ByteWriter, HeaderDecoder, HeaderEncoder } from '../../../src/transport/http2/hpack.ts';
import { Streams } from '../../../src/transport/http2/streams.ts';

const names = new Map([
  [0, 'DATA'],
  [1, 'HEADERS'],
  [3, 'RST_STREAM'],
  [4, 'SETTINGS'],
  [6, 'PING'],
  [7, 'GOAWAY'],
  [8, 'WINDOW_UPDATE'],
  [9, 'CONTINUATION'],
]);

/** A server in the test's hands: it says frame by frame what it likes. */
class Peer {
  readonly lines: string[] = [];
  readonly streams: Streams<(line: string) => void>;
  readonly #out = new ByteWriter();
  readonly #encoder = new HeaderEncoder();
  readonly #reader = new FrameReader();
  readonly #decoder = new HeaderDecoder();
  #isNew = true;

  constructor() {
    this.streams = new Streams({
      head: (said, status, { date = '' }) => said(`head ${status}${date}`),
      data: (said, chunk) => said(`data ${Buffer.from(chunk)}`),
      end: (said) => said('end'),
      failed: (said, message, isUnsent) => said(`failed ${message}${isUnsent ? ', unsent' : ''}`),
      output: () => {},
      noMore: () => this.lines.push('no more'),
      pong: () => this.lines.push('pong'),
      settings: () => {},
    });
  }

  /** Begins a request with this body; what is heard of its answer becomes lines. */
  ask(body: string | null = null): number {
    const said = (line: string) => this.lines.push(`${id} ${line}`);
    const head = { path: '/', shared: [[':method', 'GET'] as const], bodyBytes: null };
    const bytes = body === null ? null : Buffer.from(body);
    const id: number = this.streams.request(head, bytes, said);
    return id;
  }

  /** A frame from the server; a short one comes byte by byte. */
  say(type: number, stream: number, payload: Uint8Array | number[] = [], flags = 0): void {
    this.#out.clear();
    writeFrame(this.#out, { type, stream, flags, length: payload.length });
    this.#out.append(Uint8Array.from(payload));
    const bytes = Uint8Array.from(this.#out.bytes);
    if (bytes.length > 100) this.streams.receive(bytes);
    else for (const byte of bytes) this.streams.receive(Uint8Array.of(byte));
  }

  block(headers: Readonly<Record<string, string>>): Uint8Array {
    const out = new ByteWriter();
    this.#encoder.begin(out);
    for (const [name, value] of Object.entries(headers)) this.#encoder.shared(out, name, value);
    return Uint8Array.from(out.bytes);
  }

  /** What the client has sent since the last call. */
  heard(): readonly string[] {
    const bytes = this.streams.takeOutput() ?? new Uint8Array();
    const frames = this.#reader.push(this.#isNew ? bytes.subarray(24) : bytes);
    this.#isNew = false;
    return frames.map((frame) => this.#text(frame));
  }

  #text({ type, flags, stream, payload }: Frame): string {
    const said = type === 1 ? this.#decoder.decode(payload)?.flat().join(' ') : '';
    const number = type === 3 || type === 8 ? Buffer.from(payload).readUInt32BE() : payload.length;
    return `${names.get(type)} ${stream} ${flags} ${said || number}`;
  }
}

const [endStream, endHeaders, padded, priority] = [1, 4, 8, 32];
const [data, head, reset, settings, ping, goAway, window, continuation] = [
  0, 1, 3, 4, 6, 7, 8, 9,
] as const;

function opened(): Peer {
  const peer = new Peer();
  peer.heard();
  return peer;
}

function word(value: number): number[] {
  return [24, 16, 8, 0].map((bits) => (value >>> bits) & 255);
}

function setting(id: number, value: number): number[] {
  return [0, id, ...word(value)];
}

describe('streams of HTTP/2', () => {
  it('begin with what differs from the standard', () => {
    const peer = new Peer();
    assert.deepEqual(peer.heard(), ['SETTINGS 0 0 18', 'WINDOW_UPDATE 0 0 4128769']);
  });

  it('give on what has come of a long piece of an answer, and its end with the last of it', () => {
    const peer = opened();
    peer.ask();
    peer.say(head, 1, peer.block({ ':status': '200' }), endHeaders);
    const frame = [0, 0x20, 0, data, endStream, 0, 0, 0, 1, ...Buffer.alloc(0x2000, 'x')];
    const lengths = [3000, 9, 5000, 192];
    let at = 0;
    for (const length of lengths) {
      peer.streams.receive(Uint8Array.from(frame.slice(at, at + length)));
      at += length;
      peer.lines.push('-');
    }
    const told = peer.lines.map((line) => line.replace(/x+/, (text) => String(text.length)));
    assert.deepEqual(told, [
      ...['1 head 200', '1 data 2991', '-', '1 data 9', '-', '1 data 5000', '-'],
      ...['1 data 192', '1 end', '-'],
    ]);
  });

  it('carry a request and its answer', () => {
    const peer = opened();
    peer.ask();
    peer.ask('{}');
    assert.deepEqual(peer.heard(), [
      'HEADERS 1 5 :path / :method GET',
      'HEADERS 3 4 :path / :method GET',
      'DATA 3 1 2',
    ]);
    peer.say(head, 3, peer.block({ ':status': '200', date: '!' }), endHeaders);
    peer.say(head, 1, peer.block({ ':status': '404', date: '!' }), endHeaders | endStream);
    peer.say(data, 3, Buffer.from('one'));
    peer.say(data, 3, Buffer.from('two'), endStream);
    assert.deepEqual(peer.lines, [
      '3 head 200!',
      '1 head 404!',
      '1 end',
      '3 data one',
      '3 data two',
      '3 end',
    ]);
    assert.equal(peer.streams.size, 0);
  });

  it('take headers in parts, with padding and priority, before and after the answer', () => {
    const peer = opened();
    peer.ask();
    peer.say(head, 1, peer.block({ ':status': '103', date: 'early' }), endHeaders);
    const block = peer.block({ ':status': '200', date: '!' });
    const first = [2, 0, 0, 0, 0, 7, ...block.subarray(0, 3), 0, 0];
    peer.say(head, 1, first, padded | priority);
    peer.say(continuation, 1, block.subarray(3, 5));
    peer.say(continuation, 1, block.subarray(5), endHeaders);
    peer.say(data, 1, [3, 104, 105, 0, 0, 0], padded);
    peer.say(head, 1, peer.block({ 'grpc-status': '0' }), endHeaders | endStream);
    assert.deepEqual(peer.lines, ['1 head 200!', '1 data hi', '1 end']);
  });

  it('read the headers of an answer that nobody waits for', () => {
    const peer = opened();
    const given = peer.ask();
    peer.ask();
    peer.streams.cancel(given);
    assert.deepEqual(peer.heard().slice(2), ['RST_STREAM 1 0 8']);
    peer.say(head, 1, peer.block({ ':status': '200', date: 'learnt' }), endHeaders);
    peer.say(data, 1, Buffer.from('for nobody'), endStream);
    peer.say(head, 3, peer.block({ ':status': '200', date: 'learnt' }), endHeaders | endStream);
    assert.deepEqual(peer.lines, ['3 head 200learnt', '3 end']);
  });

  it('send a body as the server takes it', () => {
    const peer = opened();
    peer.ask('x'.repeat(70_000));
    assert.deepEqual(
      peer.heard().map((line) => line.replace(/^HEADERS.*/, '')),
      ['', 'DATA 1 0 16384', 'DATA 1 0 16384', 'DATA 1 0 16384', 'DATA 1 0 16383'],
    );
    peer.say(window, 1, word(10_000));
    assert.deepEqual(peer.heard(), []);
    peer.say(window, 0, word(1_000));
    assert.deepEqual(peer.heard(), ['DATA 1 0 1000']);
    peer.say(window, 0, word(100_000));
    assert.deepEqual(peer.heard(), ['DATA 1 1 3465']);
  });

  it('are few as long as the server has not said how many it takes', () => {
    const peer = new Peer();
    assert.equal(peer.streams.streamsMax, 16);
    peer.say(settings, 0);
    assert.equal(peer.streams.streamsMax, Number.POSITIVE_INFINITY);
  });

  it('go by what the server sets, for what is under way too', () => {
    const peer = opened();
    peer.say(settings, 0, [...setting(4, 10), ...setting(3, 7), ...setting(5, 20_000)]);
    assert.deepEqual(peer.heard(), ['SETTINGS 0 1 0']);
    assert.equal(peer.streams.streamsMax, 7);
    peer.ask('x'.repeat(100));
    assert.deepEqual(peer.heard().slice(1), ['DATA 1 0 10']);
    peer.say(settings, 0, setting(4, 5));
    peer.say(settings, 0, setting(4, 25));
    assert.deepEqual(peer.heard(), ['SETTINGS 0 1 0', 'SETTINGS 0 1 0', 'DATA 1 0 15']);
  });

  it('stop to send a body when the answer is there without it', () => {
    const peer = opened();
    peer.say(settings, 0, setting(4, 10));
    peer.ask('x'.repeat(100));
    peer.heard();
    peer.say(head, 1, peer.block({ ':status': '413' }), endHeaders | endStream);
    assert.deepEqual(peer.heard(), ['RST_STREAM 1 0 0']);
    assert.deepEqual(peer.lines, ['1 head 413', '1 end']);
  });

  it('let the server go on with a long answer', () => {
    const peer = opened();
    peer.ask();
    peer.heard();
    peer.say(head, 1, peer.block({ ':status': '200' }), endHeaders);
    const told: string[] = [];
    const out = new ByteWriter();
    writeFrame(out, { type: data, stream: 1, length: 16_384 });
    out.append(new Uint8Array(16_384));
    for (let count = 0; count < 300; count++) {
      peer.streams.receive(out.bytes);
      told.push(...peer.heard());
    }
    const half = 129 * 16_384;
    assert.deepEqual(told, [
      ...[`WINDOW_UPDATE 1 0 ${half}`, `WINDOW_UPDATE 0 0 ${half}`],
      ...[`WINDOW_UPDATE 1 0 ${half}`, `WINDOW_UPDATE 0 0 ${half}`],
    ]);
  });

  it('answer pings, and hear the answers to theirs', () => {
    const peer = opened();
    peer.streams.ping();
    peer.say(ping, 0, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(peer.heard(), ['PING 0 0 8', 'PING 0 1 8']);
    peer.say(ping, 0, [0, 0, 0, 0, 0, 0, 0, 0], 1);
    assert.deepEqual(peer.lines, ['pong']);
  });

  it('tell what the server breaks off, and what it did not begin', () => {
    const peer = opened();
    for (let count = 0; count < 4; count++) peer.ask();
    peer.say(reset, 1, word(2));
    peer.say(reset, 3, word(7));
    peer.say(goAway, 0, [...word(5), ...word(11)]);
    assert.deepEqual(peer.lines, [
      '1 failed the server broke the answer off: INTERNAL_ERROR',
      '3 failed the server broke the answer off: REFUSED_STREAM, unsent',
      'no more',
      '7 failed the server takes no more requests: ENHANCE_YOUR_CALM, unsent',
    ]);
    assert.equal(peer.streams.size, 1);
  });

  it('say goodbye', () => {
    const peer = opened();
    peer.streams.goAway();
    assert.deepEqual(peer.heard(), ['GOAWAY 0 0 8']);
  });

  const faults: [what: string, message: RegExp, say: (peer: Peer) => void][] = [
    [
      'headers that another frame cuts off',
      /headers without an end/,
      (peer) => {
        peer.say(head, 1, [0x88]);
        peer.say(ping, 0, word(0));
      },
    ],
    ['the middle of headers', /without a beginning/, (peer) => peer.say(continuation, 1, [0x88])],
    ['headers that are none', /never sent/, (peer) => peer.say(head, 1, [0x80], endHeaders)],
    ['a push', /push/, (peer) => peer.say(5, 1, word(2))],
    ['more padding than frame', /padding/, (peer) => peer.say(head, 1, [9, 0x88], padded)],
    ['a window of 4 GiB', /without bounds/, (peer) => peer.say(window, 0, word(2 ** 31 - 1))],
    [
      'a setting of 4 GiB',
      /without bounds/,
      (peer) => peer.say(settings, 0, setting(4, 2 ** 32 - 1)),
    ],
    [
      'a frame of 1 MiB',
      /a frame of 1048576 bytes/,
      (peer) => peer.streams.receive(Uint8Array.of(16, 0, 0, 0, 0, 0, 0, 0, 1)),
    ],
    [
      'headers without an end in sight',
      /endless headers/,
      (peer) => {
        peer.say(head, 1, [0x88]);
        for (let n = 0; n < 1024; n++) peer.say(continuation, 1, [0x88]);
      },
    ],
  ];
  for (const [what, message, say] of faults) {
    it(`are of no more use after ${what}`, () => {
      const peer = opened();
      peer.ask();
      assert.throws(() => say(peer), { name: 'ProtocolError', message });
    });
  }
});
