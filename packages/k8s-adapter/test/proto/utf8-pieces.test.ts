// Text in pieces, beside the same text decoded as a whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Utf8Pieces } from '../../src/proto/utf8-pieces.ts';
import { fc } from '../world/fast-check.ts';

function decoded(bytes: Uint8Array, pieceBytes: number): string {
  const pieces = new Utf8Pieces();
  let text = '';
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    text += pieces.push(bytes.subarray(at, at + pieceBytes));
  }
  return text + pieces.end();
}

test('wherever it is cut, a text is what it is as a whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 7 }), (text, bytes) => {
      assert.equal(decoded(new TextEncoder().encode(text), bytes), text);
    }),
  );
});

test('bytes that are no text are replaced as in a whole, and none is lost', () => {
  const whole = new TextDecoder('utf-8', { ignoreBOM: true });
  fc.assert(
    fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 7 }), (bytes, pieceBytes) => {
      assert.equal(decoded(bytes, pieceBytes), whole.decode(bytes));
    }),
  );
});

test('what is complete is told at once, a character that is cut off with its rest', () => {
  const pieces = new Utf8Pieces();
  const [first, ...others] = new TextEncoder().encode('€');
  assert.equal(pieces.push(Uint8Array.of(0x61, first ?? 0)), 'a');
  assert.equal(pieces.push(Uint8Array.from(others)), '€');
  assert.equal(pieces.end(), '');
});
