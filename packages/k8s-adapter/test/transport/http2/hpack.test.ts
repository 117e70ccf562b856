import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ByteWriter,
  type Header,
  HeaderDecoder,
  HeaderEncoder,
  HeaderError,
  huffmanText,
} from '../../../src/transport/http2/hpack.ts';
import { fc } from '../../world/fast-check.ts';

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

// RFC 7541, appendix C.4: three requests of one connection, in Huffman's code.
const requests: [hex: string, headers: Header[]][] = [
  [
    '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
    ],
  ],
  [
    '8286 84be 5886 a8eb 1064 9cbf',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
      ['cache-control', 'no-cache'],
    ],
  ],
  [
    '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      [':authority', 'www.example.com'],
      ['custom-key', 'custom-value'],
    ],
  ],
];

/** Blocks that are none, and why. */
const faults: [what: string, hex: string, message: string][] = [
  ['a number that names nothing', 'c0', 'a header that was never sent'],
  ['number 0', '80', 'a header that was never sent'],
  ['a name without a value', '4003 666f6f', 'half a header'],
  ['a text beyond its end', '40ff 00', 'a text beyond its end'],
  ['a number without an end', 'ffff ffff ffff ffff', 'an endless number'],
  ['a table of 8 KiB', '3fe1 3f', 'a table that is too large'],
  ['a text with the end in it', '0001 61 84 ffff ffff', 'a text in no known code'],
  ['a text with too much behind it', '0001 61 82 1fff', 'a text in no known code'],
  ['a text with zeros behind it', '0001 61 81 00', 'a text in no known code'],
];

describe('headers of HTTP/2', () => {
  it('are read as the standard shows it', () => {
    const decoder = new HeaderDecoder();
    for (const [hex, headers] of requests) assert.deepEqual(decoder.decode(bytes(hex)), headers);
  });

  for (const [what, hex, message] of faults) {
    it(`are not read from ${what}`, () => {
      assert.throws(() => new HeaderDecoder().decode(bytes(hex)), new HeaderError(message));
    });
  }

  const name = fc.constantFrom(':method', 'accept', 'authorization', 'x-one', 'x-two');
  const value = fc.oneof(
    fc.constantFrom('GET', 'application/json', 'Bearer t'),
    fc.integer({ min: 0, max: 5000 }).map((length) => 'é'.repeat(length)),
  );
  const header = fc.tuple(name, value);
  const lists = fc.array(fc.array(header, { maxLength: 5 }), { minLength: 1, maxLength: 4 });
  const step = fc.oneof(
    fc.record({ own: fc.array(header, { maxLength: 3 }), list: fc.nat(3) }),
    fc.constantFrom(0, 60, 300, 4096, 65_536),
  );

  it('are read as they were written, whatever the table may hold', () => {
    fc.assert(
      fc.property(lists, fc.array(step, { maxLength: 30 }), (shared, steps) => {
        const [encoder, decoder, out] = [
          new HeaderEncoder(),
          new HeaderDecoder(Number.POSITIVE_INFINITY),
          new ByteWriter(),
        ];
        for (const one of steps) {
          if (typeof one === 'number') encoder.resize(one);
          else {
            out.clear();
            encoder.begin(out);
            for (const [name, value] of one.own) encoder.own(out, name, value);
            const list = shared[one.list % shared.length] ?? [];
            encoder.all(out, list);
            assert.deepEqual(decoder.decode(out.bytes), [...one.own, ...list]);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are the same in whatever parts they come', () => {
    const cuts = fc.array(fc.nat(3000), { maxLength: 20 });
    const many = fc.array(header, { maxLength: 5 });
    fc.assert(
      fc.property(many, cuts, (list, lengths) => {
        const [encoder, out] = [new HeaderEncoder(), new ByteWriter()];
        encoder.begin(out);
        for (const [name, value] of list) encoder.own(out, name, value);
        const decoder = new HeaderDecoder(Number.POSITIVE_INFINITY);
        let rest: Uint8Array = out.bytes;
        for (const length of lengths) {
          assert.equal(decoder.decode(rest.subarray(0, length), false), null);
          rest = rest.subarray(length);
        }
        assert.deepEqual(decoder.decode(rest), list);
      }),
      { numRuns: 300 },
    );
  });

  it('are not read anew for each byte that comes: a name of 59,904 letters', () => {
    const cost = (work: () => void): number => {
      const before = process.cpuUsage();
      work();
      return process.cpuUsage(before).user;
    };
    // In Huffman's code, where a zero of five bits is a letter; its value has 1000.
    const long = Buffer.concat([bytes('00 ffc1a302'), Buffer.alloc(37_440), bytes('7fe906')]);
    const once = Buffer.concat([long, Buffer.alloc(1000, 65)]);
    const atOnce = cost(() => {
      for (let n = 0; n < 10; n++) new HeaderDecoder().decode(once);
    });
    const inBytes = cost(() => {
      const decoder = new HeaderDecoder();
      decoder.decode(long, false);
      for (let at = 0; at < 1000; at++) decoder.decode(Uint8Array.of(65), at === 999);
    });
    assert.ok(inBytes < 10 * atOnce, `${inBytes} us, where ten times at once take ${atOnce} us`);
  });

  it('are a byte each when they come again, the token too', () => {
    const [encoder, out] = [new HeaderEncoder(), new ByteWriter()];
    const write = (): number => {
      out.clear();
      encoder.begin(out);
      for (const name of ['authorization', 'accept', 'user-agent']) {
        encoder.shared(out, name, `Bearer ${'t'.repeat(900)}`);
      }
      return out.length;
    };
    assert.ok(write() > 2700);
    assert.equal(write(), 3);
  });
});

/** Codes of all lengths that texts are likely to have, and some longer ones (RFC 7541, appendix B). */
const codes: Readonly<Record<string, string>> = {
  '0': '00000',
  a: '00011',
  ' ': '010100',
  A: '100001',
  x: '1111001',
  z: '1111011',
  '&': '11111000',
  '!': '1111111000',
  '#': '111111111010',
  '~': '1111111111101',
  '^': '11111111111100',
  '<': '111111111111100',
  '\\': '1111111111111110000',
  '\x80': '11111111111111100110',
  '\n': '111111111111111111111111111100',
};

/** The bytes of these bits, after one that is not of them. */
function bytesOf(bits: string): Uint8Array {
  const bytes = bits.match(/.{8}/g) ?? [];
  return Uint8Array.from([0xaa, ...bytes.map((byte) => Number.parseInt(byte, 2))]);
}

const text = fc.array(fc.constantFrom(...Object.keys(codes)), { maxLength: 12 });

it('reads what is written code by code, wherever in a byte each begins', () => {
  fc.assert(
    fc.property(text, fc.nat(40), (characters, more) => {
      const bits = characters.map((character) => codes[character]).join('');
      const padding = '1'.repeat(-bits.length & 7);
      const bytes = bytesOf(bits + padding);
      // What comes after it in the same block is none of it.
      const block = Uint8Array.from([...bytes, more]);
      assert.equal(huffmanText(block, 1, bytes.length), characters.join(''));
    }),
  );
});

it('reads nothing where more or other bits than padding are left', () => {
  fc.assert(
    fc.property(text, (characters) => {
      const bits = characters.map((character) => codes[character]).join('');
      const missing = -bits.length & 7;
      const long = bytesOf(bits + '1'.repeat(missing + 8));
      assert.equal(huffmanText(long, 1, long.length), null);
      // The beginning of a long code, which is not all ones.
      const cut = bytesOf(`${bits}${'1'.repeat(missing)}11111111${'1'.repeat(6)}00`);
      assert.equal(huffmanText(cut, 1, cut.length), null);
    }),
  );
});

it('reads a text that is longer than a call has room for arguments', () => {
  const long = '00011'.repeat(256_000);
  for (const [bits, length] of [
    [long, 256_000],
    [`${long}00011111`, 256_001],
  ] as const) {
    const bytes = bytesOf(bits);
    const read = huffmanText(bytes, 1, bytes.length);
    // Not compared as a whole: nobody wants to see the difference.
    assert.ok(read === 'a'.repeat(length));
  }
});
