// Bytes that are put together before they are sent.

const bytesAtFirst = 4096;

/** Bytes one after the other, in room that grows as needed and is used again. */
export class ByteWriter {
  #room: Buffer = Buffer.allocUnsafeSlow(bytesAtFirst);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written so far; it holds until something else is. */
  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#room[this.#length] = value;
    this.#length += 1;
  }

  /** A number in as many bytes, the highest first. */
  number(value: number, bytes: number): void {
    this.#reserve(bytes);
    this.#length = this.#room.writeUIntBE(value, this.#length, bytes);
  }

  /** A text whose letters are bytes. */
  latin1(text: string): void {
    this.#reserve(text.length);
    this.#length += this.#room.write(text, this.#length, 'latin1');
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#room.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#room.length) return;
    const room = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#room.length));
    room.set(this.bytes);
    this.#room = room;
  }
}
