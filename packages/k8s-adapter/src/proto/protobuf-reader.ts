import { Words } from './protobuf-words.ts';

/** Bytes that are no protobuf message. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

const decoder = new TextDecoder();
/** Knows only what it has read, so sharing it changes nothing. */
const words = new Words();
/** A varint of more bytes does not fit the safe integers, or is negative. */
const safeBytes = 7;
const varintBytesMax = 10;

/**
 * Reads one protobuf message field by field, and those inside of it. Throws ProtobufError where the
 * bytes are none.
 */
export class ProtobufReader {
  readonly #bytes: Uint8Array;
  /** Of the message that is being read. */
  #end: number;
  #at: number;
  #wire = 0;

  constructor(bytes: Uint8Array, from = 0) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = bytes.length;
  }

  /** The number of the next field, which has to be read or skipped; null at the end. */
  next(): number | null {
    if (this.#at >= this.#end) return null;
    const tag = this.#varint();
    this.#wire = tag % 8;
    return (tag - this.#wire) / 8;
  }

  skip(): void {
    switch (this.#wire) {
      case 0:
        this.#varint();
        break;
      case 1:
        this.#advance(8);
        break;
      case 2:
        this.#advance(this.#varint());
        break;
      case 5:
        this.#advance(4);
        break;
      default:
        throw new ProtobufError(`unknown wire type ${this.#wire}`);
    }
  }

  /** An integer, signed; beyond the safe integers the nearest number to it, as JSON.parse gives it. */
  integer(): number {
    this.#expect(0);
    return this.#varint();
  }

  text(): string {
    const from = this.#range();
    return decoder.decode(this.#bytes.subarray(from, this.#at));
  }

  /** A text that many objects share. */
  word(): string {
    const from = this.#range();
    const word = words.take(this.#bytes, from, this.#at);
    return word ?? decoder.decode(this.#bytes.subarray(from, this.#at));
  }

  /** The bytes in this field. */
  bytes(): Uint8Array {
    const from = this.#range();
    return this.#bytes.subarray(from, this.#at);
  }

  /** Goes on with the fields of the message in this field; the result is for `leave`. */
  enter(): number {
    const outer = this.#end;
    const from = this.#range();
    this.#end = this.#at;
    this.#at = from;
    return outer;
  }

  /** Comes back from a message that was read to its end. */
  leave(outer: number): void {
    this.#end = outer;
  }

  /** Where the content of this field begins; it ends where the next one does. */
  #range(): number {
    this.#expect(2);
    const length = this.#varint();
    const from = this.#at;
    this.#advance(length);
    return from;
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new ProtobufError(`wire type ${this.#wire}, want ${wire}`);
  }

  #advance(count: number): void {
    this.#at += count;
    // A length may be negative too.
    if (count < 0 || this.#at > this.#end) throw new ProtobufError('a field goes beyond its end');
  }

  #varint(): number {
    const first = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    // Nearly all are small.
    if (first !== undefined && first < 0x80) {
      this.#at += 1;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (let count = 0; count < safeBytes; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    return this.#longVarint(value);
  }

  #longVarint(low: number): number {
    let value = BigInt(low);
    for (let count = safeBytes; count < varintBytesMax; count++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte >= 0x80) continue;
      return Number(BigInt.asIntN(64, value));
    }
    throw new ProtobufError('an endless number');
  }

  #byte(): number {
    const byte = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (byte === undefined) throw new ProtobufError('a number goes beyond its end');
    this.#at += 1;
    return byte;
  }
}
