// Reads the headers of answers, as HPACK writes them (RFC 7541).
import { bytesOf, type Header, HeaderTable, tableBytesMax } from './header-table.ts';
import { huffmanText } from './huffman.ts';

/** Bytes that are no headers: what comes after them on their connection cannot be read either. */
export class HeaderError extends Error {
  override readonly name = 'HeaderError';
}

/** The header goes on in bytes that are yet to come. */
class UnfinishedError extends HeaderError {
  /** Where its next part ends at the earliest. */
  readonly end: number;

  constructor(message: string, end: number) {
    super(message);
    this.end = end;
  }
}

/** A number takes no more bytes than this beyond its first. */
const numberBytesMax = 4;
/** A longer name or value is not kept, for it belongs to no answer, but what comes after it is read. */
const textBytesMax = 64 * 1024;
/** As much of one header waits for its end. */
const unfinishedBytesMax = 3 * textBytesMax;
/** What stands for such a text: it is too long for the table and for an answer too. */
const longText: Uint8Array = Buffer.concat([
  Buffer.from([0x7f, 0x81, 0xff, 0x03]),
  Buffer.alloc(textBytesMax, '?'),
]);
/** A block of headers may decode to so much, which is announced; an answer has a few hundred bytes of them. */
export const headerListBytesMax: number = 16 * 1024;

/** A text is longer than what is kept. */
class LongTextError extends HeaderError {
  /** Where its length stands. */
  readonly start: number;
  readonly length: number;

  constructor(start: number, length: number) {
    super('a text that is too long');
    this.start = start;
    this.length = length;
  }
}

/**
 * Reads the header blocks of one connection, each once and in their order: each may teach names. A block that
 * decodes to too much is read to its end all the same, for what comes later refers to it, but is not kept: a few
 * bytes on the wire may refer to thousands.
 */
export class HeaderDecoder {
  readonly #table = new HeaderTable();
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  /** With fewer bytes than these the header under way is not tried again: a long name would be read for each. */
  #needed = 0;
  /** So many bytes of a long text are yet to come. */
  #skipped = 0;
  #headers: Header[] = [];
  #listBytes = 0;
  readonly #listBytesMax: number;

  constructor(listBytesMax: number = headerListBytesMax) {
    this.#listBytesMax = listBytesMax;
  }

  /** The next part of a block; with its last, what it says, or null: too much. Throws HeaderError. */
  decode(part: Uint8Array, isLast = true): readonly Header[] | null {
    const rest = this.#bytes.subarray(this.#at);
    const more = part.subarray(this.#skipped);
    this.#skipped -= part.length - more.length;
    if (isLast && this.#skipped > 0) throw new HeaderError('a text beyond its end');
    this.#bytes = rest.length === 0 ? more : Buffer.concat([rest, more]);
    this.#at = 0;
    this.#readOn(isLast);
    if (!isLast) return null;
    const headers = this.#listBytes > this.#listBytesMax ? null : this.#headers;
    this.#headers = [];
    this.#listBytes = 0;
    return headers;
  }

  /** As many headers as have come whole. */
  #readOn(isLast: boolean): void {
    if (this.#bytes.length < this.#needed && !isLast) return;
    this.#needed = 0;
    while (this.#at < this.#bytes.length) {
      const start = this.#at;
      try {
        const header = this.#next(this.#bytes[start] ?? 0);
        if (header) this.#keep(header);
      } catch (error) {
        if (error instanceof LongTextError) {
          this.#skip(start, error);
          continue;
        }
        const hasMore = error instanceof UnfinishedError && !isLast;
        if (!hasMore || error.end - start > unfinishedBytesMax) throw error;
        this.#at = start;
        this.#needed = error.end - start;
        return;
      }
    }
  }

  /** Puts what stands for a long text in its place. */
  #skip(from: number, { start, length }: LongTextError): void {
    const rest = this.#bytes.subarray(this.#at + length);
    this.#skipped = Math.max(this.#at + length - this.#bytes.length, 0);
    this.#bytes = Buffer.concat([this.#bytes.subarray(from, start), longText, rest]);
    this.#at = 0;
  }

  #keep(header: Header): void {
    this.#listBytes += bytesOf(header);
    if (this.#listBytes <= this.#listBytesMax) this.#headers.push(header);
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
    const start = this.#at;
    const isCoded = (this.#bytes[start] ?? 0) >= 0x80;
    const length = this.#number(7);
    if (length > textBytesMax) throw new LongTextError(start, length);
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) {
      throw new UnfinishedError('a text beyond its end', this.#at);
    }
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
    if (byte === undefined) {
      throw new UnfinishedError('half a header', this.#at + 1);
    }
    this.#at += 1;
    return byte;
  }
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}
