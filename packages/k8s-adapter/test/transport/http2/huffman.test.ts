import assert from 'node:assert/strict';
import { it } from 'node:test';
import { huffmanText } from '../../../src/transport/http2/hpack.ts';
import { fc } from '../../world/fast-check.ts';

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
