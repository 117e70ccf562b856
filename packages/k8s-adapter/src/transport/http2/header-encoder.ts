// Writes the headers of requests, as HPACK does (RFC 7541).
import type { ByteWriter } from './byte-writer.ts';
import { type Header, HeaderTable, staticHeaders, tableBytesMax } from './header-table.ts';

/** The numbers of names and, where the value is written too, of whole headers. */
const staticNames = new Map<string, number>();
const staticNumbers = new Map<string, number>();
for (const [index, [name, value]] of staticHeaders.entries()) {
  if (!staticNames.has(name)) staticNames.set(name, index + 1);
  if (value !== '') staticNumbers.set(`${name} ${value}`, index + 1);
}

/**
 * Writes the headers of one connection's requests. What they have in common is written out
 * once and is a number from then on, the token too, as client-go does it: it is most of what a
 * request consists of, and nobody else has a say in what goes over the connection.
 */
export class HeaderEncoder {
  /** What lists of headers were written as, and how many had been learnt by then. */
  #written = new WeakMap<
    readonly Header[],
    { readonly bytes: Uint8Array; readonly count: number }
  >();
  /** Which header each value of a name is, counted from the first that was ever learnt. */
  readonly #learnt = new Map<string, Map<string, number>>();
  #count = 0;
  readonly #table = new HeaderTable(([name, value]) => this.#learnt.get(name)?.delete(value));
  #size = tableBytesMax;
  /** The sizes that the other end does not know of yet: the smallest, and the last. */
  #resized: readonly number[] = [];

  /** The other end keeps so much; more than usual is not used. */
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
    // What was written where something was learnt is of no use a second time.
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
