// The tables by which HPACK writes a header as a number (RFC 7541, appendix A and section 2.3.2).

/** A header as it is on its way; bytes are letters, as in Latin-1. */
export type Header = readonly [name: string, value: string];

/** The headers that every connection knows from the start, from number 1 on. */
const staticHeaders: readonly Header[] = `
:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', ...value] = line.split(' ');
    return [name, value.join(' ')];
  });

/** The size that both ends keep unless one of them wants it smaller. */
const tableBytesMax = 4096;
/** The weight of each header beside its letters. */
const headerBytes = 32;

/** The headers that a connection has learnt: the newest header has the lowest number, the oldest go first. */
class HeaderTable {
  readonly #headers: Header[] = [];
  #bytes = 0;
  #bytesMax = tableBytesMax;
  readonly #onDropped: (header: Header) => void;

  constructor(onDropped: (header: Header) => void = () => {}) {
    this.#onDropped = onDropped;
  }

  get length(): number {
    return this.#headers.length;
  }

  /** The header with this number, static ones included; undefined: there is none. */
  get(number: number): Header | undefined {
    if (number <= staticHeaders.length) return staticHeaders[number - 1];
    return this.#headers[this.#headers.length - (number - staticHeaders.length)];
  }

  /** A header that is larger than the table empties it. */
  add(header: Header): void {
    this.#headers.push(header);
    this.#bytes += bytesOf(header);
    this.#shrink();
  }

  /** Tells whether it would stay there. */
  takes(header: Header): boolean {
    return bytesOf(header) <= this.#bytesMax;
  }

  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#headers.shift();
      if (!oldest) return;
      this.#bytes -= bytesOf(oldest);
      this.#onDropped(oldest);
    }
  }
}

/** The weight of a header, by HPACK and by HTTP/2. */
function bytesOf([name, value]: Header): number {
  return name.length + value.length + headerBytes;
}

/** The numbers of names and, where the value is written too, of whole headers. */
const staticNames = new Map<string, number>();
const staticNumbers = new Map<string, number>();
for (const [index, [name, value]] of staticHeaders.entries()) {
  if (!staticNames.has(name)) staticNames.set(name, index + 1);
  if (value !== '') staticNumbers.set(`${name} ${value}`, index + 1);
}

/**
 * Writes the headers of one connection's requests. Their common headers are written out once and
 * are a number from then on, the token too, as client-go does it: it is most of a request, and no
 * other program writes to the connection.
 */
export class HeaderEncoder {
  /** The bytes that lists of headers were written as, and the number learnt by then. */
  #written = new WeakMap<
    readonly Header[],
    { readonly bytes: Uint8Array; readonly count: number }
  >();
  /** The number of the header for each value of a name, counted from the first that was ever learnt. */
  readonly #learnt = new Map<string, Map<string, number>>();
  #count = 0;
  readonly #table = new HeaderTable(([name, value]) => this.#learnt.get(name)?.delete(value));
  #size = tableBytesMax;
  /** The sizes that the other end does not know of yet: the smallest, and the last. */
  #resized: readonly number[] = [];

  /** The size that the other end keeps; more than usual is not used. */
  resize(bytesMax: number): void {
    const size = Math.min(bytesMax, tableBytesMax);
    if (size === this.#size) return;
    this.#size = size;
    this.#resized = [Math.min(size, ...this.#resized), size];
    this.#table.resize(size);
    // Headers may have been dropped, though none was learnt.
    this.#written = new WeakMap();
  }

  /** Comes before the first header of each request. */
  begin(out: ByteWriter): void {
    if (this.#resized.length === 0) return;
    for (const size of new Set(this.#resized)) writeNumber(out, 5, 0x20, size);
    this.#resized = [];
  }

  /** Headers that other requests have too, as the same list: nothing is looked up while nothing is learnt. */
  all(out: ByteWriter, headers: readonly Header[]): void {
    const written = this.#written.get(headers);
    if (written?.count === this.#count) {
      out.append(written.bytes);
      return;
    }
    // Bytes written while the table learnt are of no use a second time.
    const [from, count] = [out.length, this.#count];
    for (const [name, value] of headers) this.shared(out, name, value);
    this.#written.set(headers, { bytes: Uint8Array.from(out.bytes.subarray(from)), count });
  }

  /** A header that other requests have too. */
  shared(out: ByteWriter, name: string, value: string): void {
    const serial = this.#learnt.get(name)?.get(value);
    if (serial !== undefined) {
      writeNumber(out, 7, 0x80, staticHeaders.length + this.#count - serial);
      return;
    }
    const known = staticNumbers.get(`${name} ${value}`);
    if (known !== undefined) writeNumber(out, 7, 0x80, known);
    else if (this.#table.takes([name, value])) {
      this.#literal(out, 6, 0x40, name, value);
      this.#learn([name, value]);
    } else this.own(out, name, value);
  }

  /** A header that is another in each request. */
  own(out: ByteWriter, name: string, value: string): void {
    this.#literal(out, 4, 0x00, name, value);
  }

  #literal(out: ByteWriter, bits: number, kind: number, name: string, value: string): void {
    const number = staticNames.get(name) ?? 0;
    writeNumber(out, bits, kind, number);
    if (number === 0) writeText(out, name);
    writeText(out, value);
  }

  #learn(header: Header): void {
    const [name, value] = header;
    this.#table.add(header);
    const values = this.#learnt.get(name) ?? new Map<string, number>();
    this.#learnt.set(name, values.set(value, this.#count));
    this.#count += 1;
  }
}

function writeText(out: ByteWriter, text: string): void {
  writeNumber(out, 7, 0, text.length);
  out.latin1(text);
}

/** In the last bits of a byte, after those of its kind; what does not fit follows. */
function writeNumber(out: ByteWriter, bits: number, kind: number, value: number): void {
  const most = (1 << bits) - 1;
  if (value < most) {
    out.byte(kind | value);
    return;
  }
  out.byte(kind | most);
  let left = value - most;
  for (; left >= 0x80; left >>>= 7) out.byte((left & 0x7f) | 0x80);
  out.byte(left);
}

/** Bytes that are no headers: later ones on their connection cannot be read either. */
export class HeaderError extends Error {
  override readonly name = 'HeaderError';
}

/** The header continues in bytes that are yet to come. */
class UnfinishedError extends HeaderError {
  /** Where its next part ends at the earliest. */
  readonly end: number;

  constructor(message: string, end: number) {
    super(message);
    this.end = end;
  }
}

/** The largest number of bytes of a number beyond its first. */
const numberBytesMax = 4;
/** A longer name or value, which belongs to no answer, is not kept; the text after it is read. */
const textBytesMax = 64 * 1024;
/** As much of one header waits for its end. */
const unfinishedBytesMax = 3 * textBytesMax;
/** The stand-in for such a text: it is too long for the table and for an answer too. */
const longText: Uint8Array = Buffer.concat([
  Buffer.from([0x7f, 0x81, 0xff, 0x03]),
  Buffer.alloc(textBytesMax, '?'),
]);
/** The announced limit of a decoded block of headers; an answer has a few hundred bytes. */
export const headerListBytesMax: number = 16 * 1024;

/** A text is longer than the kept size. */
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
 * Reads the header blocks of one connection, each once and in their order: each may teach names. An
 * oversized block is still read to its end, for later headers refer to it, but is not kept: a few
 * bytes on the wire may refer to thousands.
 */
export class HeaderDecoder {
  readonly #table = new HeaderTable();
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  /** With fewer bytes than these the header under way is not tried again: a long name would be read for each. */
  #needed = 0;
  /** The number of bytes of a long text that are yet to come. */
  #skipped = 0;
  #headers: Header[] = [];
  #listBytes = 0;
  readonly #listBytesMax: number;

  constructor(listBytesMax: number = headerListBytesMax) {
    this.#listBytesMax = listBytesMax;
  }

  /** Takes a part of a block; the last gives its headers, or null: too much. Throws HeaderError. */
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

/** The number of bits in the code of each byte, and last that of the end, which never stands in a text. */
const bitsOf: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const bitsMax = 30;
const argumentsMax = 1024;
const end = bitsOf.length - 1;

/** Where each bit leads from each place: to another place, or, if negative, to a byte. */
let tree: Int16Array | null = null;
let shortCodes: Uint16Array | null = null;

/**
 * Shorter codes come before longer ones, and those of one length in the order of their bytes: so
 * the places are found length by length, without a look at any code. The table is built when the
 * first text comes.
 */
function grown(): Int16Array {
  const byLength: number[][] = Array.from({ length: bitsMax + 1 }, () => []);
  for (const [byte, bits] of bitsOf.entries()) byLength[bits]?.push(byte);
  const ways = new Int16Array(2 * bitsOf.length);
  let places = 1;
  // Of one length the places that lead on follow each other, and so do the ways out of them.
  let level = [0];
  for (let bits = 1; bits <= bitsMax; bits++) {
    const below: number[] = [];
    const bytes = byLength[bits] ?? [];
    let taken = 0;
    for (const place of level) {
      for (const way of [2 * place, 2 * place + 1]) {
        const byte = bytes[taken++];
        if (byte !== undefined) {
          ways[way] = -1 - byte;
          continue;
        }
        ways[way] = places;
        below.push(places++);
      }
    }
    level = below;
  }
  return ways;
}

/**
 * By the next eight bits: how many of them are a code, times 256, and its byte; 0 where the code is longer. Nearly
 * all that servers write is shorter, and is read in one step so, not in six.
 */
function shortened(ways: Int16Array): Uint16Array {
  const codes = new Uint16Array(256);
  for (let next = 0; next < codes.length; next++) {
    let place = 0;
    for (let bits = 1; bits <= 8 && place >= 0; bits++) {
      place = ways[2 * place + ((next >>> (8 - bits)) & 1)] ?? 0;
      if (place < 0) codes[next] = 256 * bits + (-1 - place);
    }
  }
  return codes;
}

/** The text, byte by byte; null where it is none. The rest of the last byte is ones. */
export function huffmanText(bytes: Uint8Array, from: number, to: number): string | null {
  tree ??= grown();
  shortCodes ??= shortened(tree);
  const text: number[] = [];
  const bitsEnd = 8 * to;
  let bit = 8 * from;
  while (bit < bitsEnd) {
    const code = shortCodes[eightBits(bytes, bit)] ?? 0;
    const bits = code >>> 8;
    if (bits > 0 && bit + bits <= bitsEnd) {
      text.push(code & 0xff);
      bit += bits;
      continue;
    }
    let place = 0;
    const begin = bit;
    while (place >= 0 && bit < bitsEnd) {
      place = tree[2 * place + (eightBits(bytes, bit) >>> 7)] ?? 0;
      bit += 1;
    }
    if (place >= 0) return isPadding(bytes, begin, bitsEnd) ? textOf(text) : null;
    if (place === -1 - end) return null;
    text.push(-1 - place);
  }
  return textOf(text);
}

/** The quickest for the usual ones; a call has no room for the bytes of the longest as arguments. */
function textOf(bytes: readonly number[]): string {
  return bytes.length > argumentsMax
    ? Buffer.from(bytes).toString('latin1')
    : String.fromCharCode(...bytes);
}

/** From this bit on, beyond the end of the text too: a code that does not fit is none. */
function eightBits(bytes: Uint8Array, bit: number): number {
  const at = bit >>> 3;
  return ((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) >>> (8 - (bit & 7))) & 0xff;
}

function isPadding(bytes: Uint8Array, begin: number, bitsEnd: number): boolean {
  const left = bitsEnd - begin;
  const ones = (1 << left) - 1;
  return left < 8 && ((bytes[begin >>> 3] ?? 0) & ones) === ones;
}

const bytesAtFirst = 4096;

/** Bytes one after the other, in room that grows as needed and is used again. */
export class ByteWriter {
  #room: Buffer = Buffer.allocUnsafeSlow(bytesAtFirst);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far; valid until the next write. */
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
