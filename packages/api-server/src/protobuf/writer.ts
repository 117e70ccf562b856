/**
 * Writes protobuf messages, one after the other and field by field, into memory that it keeps: to touch
 * new memory for each takes longer than to write a pod.
 */
export class ProtobufWriter {
  #bytes: Buffer = Buffer.allocUnsafe(keptBytes);
  #length = 0;

  /**
   * Returns the bytes that `write` writes, in memory that the caller owns; `write` must not call
   * this method.
   */
  written(write: () => void): Uint8Array {
    this.#length = 0;
    write();
    const written = this.#bytes.subarray(0, this.#length);
    if (this.#bytes.length <= keptBytes) return Buffer.from(written);
    // The caller owns the memory of a long list: the writer does not keep it for good.
    this.#bytes = Buffer.allocUnsafe(keptBytes);
    return written;
  }

  /**
   * Returns what `write` writes, for `copy` to write again later. One character stands for each
   * byte: V8 stores texts together with other small values, but each byte array separately, which
   * takes longer than writing a pod.
   */
  copied(write: () => void): string {
    const start = this.#length;
    write();
    return this.#bytes.toString('latin1', start, this.#length);
  }

  /** Writes again what `copied` gave. */
  copy(written: string): void {
    this.#reserve(written.length);
    this.#bytes.write(written, this.#length, 'latin1');
    this.#length += written.length;
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
    this.#varint(field * 8 + bytesType);
    if (value.length <= shortLength && this.#ascii(value)) return;
    const length = Buffer.byteLength(value);
    this.#varint(length);
    this.#reserve(length);
    if (length === value.length) this.#bytes.write(value, this.#length, 'latin1');
    else this.#bytes.write(value, this.#length, 'utf8');
    this.#length += length;
  }

  /** A message inside, which `write` writes. */
  message(field: number, write: () => void): void {
    const start = this.open(field);
    write();
    this.close(start);
  }

  /** Begins a message inside; returns where it begins, for `close`. */
  open(field: number): number {
    this.#varint(field * 8 + bytesType);
    // Most are short: one byte is kept free for the length, and more are made room for if need be.
    this.#reserve(1);
    this.#length += 1;
    return this.#length;
  }

  /** Ends the message that begins at `start`. */
  close(start: number): void {
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

  /** Writes a short text and its length, without a call to the system's code; false: it is not ASCII. */
  #ascii(value: string): boolean {
    this.#reserve(1 + shortLength);
    const bytes = this.#bytes;
    const start = this.#length + 1;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      bytes[start + index] = code;
    }
    bytes[start - 1] = value.length;
    this.#length = start + value.length;
    return true;
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
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

const keptBytes = 64 * 1024;
/**
 * The length of texts whose length takes one byte and that take less time to write than a call of
 * Node.
 */
const shortLength = 40;
const varintType = 0;
const bytesType = 2;
const varintBytesMax = 10;

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}
