// Reads the headers of answers, as HPACK writes them (RFC 7541).
import { type Header, HeaderTable, tableBytesMax } from './header-table.ts';
import { huffmanText } from './huffman.ts';

/** Bytes that are no headers: what comes after them on their connection cannot be read either. */
export class HeaderError extends Error {
  override readonly name = 'HeaderError';
}

/** A number takes no more bytes than this beyond its first. */
const numberBytesMax = 4;

/** Reads the header blocks of one connection, each once and in their order: each may teach names. */
export class HeaderDecoder {
  readonly #table = new HeaderTable();
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  /** Throws HeaderError. */
  decode(block: Uint8Array): readonly Header[] {
    this.#bytes = block;
    this.#at = 0;
    const headers: Header[] = [];
    while (this.#at < block.length) {
      const header = this.#next(block[this.#at] ?? 0);
      if (header) headers.push(header);
    }
    return headers;
  }

  #next(first: number): Header | null {
    if (first >= 0x80) return this.#known(this.#number(7));
    if (first >= 0x40) {
      const header = this.#literal(6);
      this.#table.add(header);
      return header;
    }
    if (first < 0x20) return this.#literal(4);
    const size = this.#number(5);
    if (size > tableBytesMax) throw new HeaderError('a table that is too large');
    this.#table.resize(size);
    return null;
  }

  #known(number: number): Header {
    const header = this.#table.get(number);
    if (!header) throw new HeaderError('a header that was never sent');
    return header;
  }

  #literal(bits: number): Header {
    const number = this.#number(bits);
    const name = number === 0 ? this.#text() : this.#known(number)[0];
    return [name, this.#text()];
  }

  #text(): string {
    const isCoded = (this.#bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#number(7);
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new HeaderError('a text beyond its end');
    if (!isCoded) return latin1(this.#bytes, from, this.#at);
    const text = huffmanText(this.#bytes, from, this.#at);
    if (text === null) throw new HeaderError('a text in no known code');
    return text;
  }

  /** In the last bits of one byte, and where they are all set in those that follow. */
  #number(bits: number): number {
    const most = 2 ** bits - 1;
    const start = this.#byte() & most;
    if (start < most) return start;
    let value = most;
    for (let at = 0; at < numberBytesMax; at++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** (7 * at);
      if (byte < 0x80) return value;
    }
    throw new HeaderError('an endless number');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new HeaderError('half a header');
    this.#at += 1;
    return byte;
  }
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}
