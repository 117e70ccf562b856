/** Writes one protobuf message, field by field, into a buffer that grows. */
export class ProtobufWriter {
  #bytes: Buffer;
  #length = 0;

  /** `size` is what it will hold at first, in bytes. */
  constructor(size: number = initialSize) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** What was written so far; of no use once more is written. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Bytes outside of any field. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A signed integer of 64 bits. */
  integer(field: number, value: number | bigint): void {
    this.#varint(field * 8 + varintType);
    if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) {
      this.#varint(value);
    } else this.#longVarint(BigInt.asUintN(64, BigInt(value)));
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#varint(field * 8 + bytesType);
    this.#varint(length);
    this.#reserve(length);
    if (length === value.length) this.#bytes.write(value, this.#length, 'latin1');
    else this.#bytes.write(value, this.#length, 'utf8');
    this.#length += length;
  }

  /** A message inside, which `write` writes. */
  message(field: number, write: () => void): void {
    this.#varint(field * 8 + bytesType);
    // Most are short: one byte is kept free for the length, and more are made room for if need be.
    this.#reserve(1);
    this.#length += 1;
    const start = this.#length;
    write();
    const length = this.#length - start;
    const wide = varintLength(length);
    if (wide > 1) {
      this.#reserve(wide);
      this.#bytes.copyWithin(start + wide - 1, start, this.#length);
    }
    this.#length = start - 1;
    this.#varint(length);
    this.#length += length;
  }

  #varint(value: number): void {
    this.#reserve(varintBytesMax);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  #longVarint(value: bigint): void {
    this.#reserve(varintBytesMax);
    let rest = value;
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}

const initialSize = 4096;
const varintType = 0;
const bytesType = 2;
const varintBytesMax = 10;

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}
