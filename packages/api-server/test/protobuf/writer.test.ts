import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ProtobufWriter } from '../../src/protobuf/writer.ts';

/** A text or a message as field 1, in the shortest code for it. */
function dumb(bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 128 ? [10, length] : [10, (length % 128) | 128, Math.floor(length / 128)];
  return Buffer.concat([Buffer.from(head), bytes]);
}

describe('a protobuf writer', () => {
  it('writes texts of any letters and length', () => {
    const writer = new ProtobufWriter();
    const ascii = fc.string({ maxLength: 90 });
    const any = fc.string({ unit: 'binary', maxLength: 90 });
    const property = fc.property(fc.oneof(ascii, any), (text) => {
      const written = writer.written(() => writer.text(1, text));
      assert.deepEqual(Buffer.from(written), dumb(Buffer.from(text)));
    });
    fc.assert(property, { numRuns: 2000 });
  });

  it('hands over what nothing that is written later changes', () => {
    const writer = new ProtobufWriter();
    const lengths = [3, 50, 70_000, 200_000, 10];
    const written = lengths.map((length, at) =>
      writer.written(() => writer.raw(new Uint8Array(length).fill(at))),
    );
    for (const [at, bytes] of written.entries()) {
      assert.equal(bytes.length, lengths[at]);
      assert.ok(bytes.every((byte) => byte === at));
    }
  });

  it('begins anew after one that could not be written', () => {
    const writer = new ProtobufWriter();
    const fails = (): void => {
      writer.text(1, 'half');
      throw new Error('no more');
    };
    assert.throws(() => writer.written(fails), /no more/);
    const written = writer.written(() => writer.integer(1, 5));
    assert.deepEqual([...written], [8, 5]);
  });

  it('writes a message inside whose length takes more than a byte', () => {
    const writer = new ProtobufWriter();
    const text = 'x'.repeat(150);
    const written = writer.written(() => writer.message(1, () => writer.text(1, text)));
    assert.deepEqual(Buffer.from(written), dumb(dumb(Buffer.from(text))));
  });

  it('writes any bytes again as they were written', () => {
    const writer = new ProtobufWriter();
    const property = fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      let copied = '';
      const once = writer.written(() => {
        writer.integer(1, 5);
        copied = writer.copied(() => writer.raw(bytes));
      });
      const again = writer.written(() => {
        writer.integer(1, 5);
        writer.copy(copied);
      });
      assert.deepEqual([...once], [8, 5, ...bytes]);
      assert.deepEqual(again, once);
    });
    fc.assert(property);
  });
});
