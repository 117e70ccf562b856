import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineSplitter } from '../../src/proto/watch-decoder.ts';
import { fc } from '../world/fast-check.ts';

function splitAll(splitter: LineSplitter, chunks: readonly (Uint8Array | string)[]): string[] {
  return chunks.flatMap((chunk) => splitter.push(chunk).lines);
}

describe('lines', () => {
  it('are the same however the bytes are cut', () => {
    const line = fc
      .string({ unit: 'grapheme-composite' })
      .map((text) => `x${text.replace(/\s/g, '·')}`);
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(line), cuts, (lines, positions) => {
        const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(''));
        const ends = positions
          .map((position) => position % (bytes.length + 1))
          .sort((a, b) => a - b);
        const chunks = [...ends, bytes.length].map((end, index) =>
          bytes.subarray(index === 0 ? 0 : ends[index - 1], end),
        );
        const splitter = new LineSplitter();
        assert.deepEqual(splitAll(splitter, chunks), lines);
        assert.equal(splitter.rest, '');
      }),
    );
  });

  it('drop empty lines and carriage returns are harmless', () => {
    assert.deepEqual(splitAll(new LineSplitter(), ['\n{"a":1}\r\n', '\n\n{}', '\n']), [
      '{"a":1}\r',
      '{}',
    ]);
  });

  it('tell what stands after the last line break', () => {
    const splitter = new LineSplitter();
    splitter.push('{}\n{"half');
    assert.equal(splitter.rest, '{"half');
  });

  const limits: [string, string[], boolean[]][] = [
    ['a line of the limit passes', ['12345678', '\n'], [false, false]],
    ['an unfinished line beyond it', ['12345', '6789'], [false, true]],
    ['a finished line beyond it', ['123456789\n'], [true]],
    ['short lines before a long one come out', ['a\nb\n123456789'], [true]],
  ];
  for (const [name, chunks, tooLong] of limits) {
    it(name, () => {
      const splitter = new LineSplitter(8);
      assert.deepEqual(
        chunks.map((chunk) => splitter.push(chunk).tooLong),
        tooLong,
      );
    });
  }
});
