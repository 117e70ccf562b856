// Texts of protobuf messages, kept once each.

/** Longer texts are seldom seen twice. */
const wordBytesMax = 64;
/** A power of two. Few clusters have more different words; where two meet, the later one stays. */
const places = 4096;

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/**
 * Texts that come again and again, such as names of nodes and types of conditions, by their bytes:
 * one that is known is found without making a string of it, and is kept once by all who hold it.
 */
export class Words {
  readonly #known: string[] = new Array(places).fill('');

  /** The text of these bytes; null where it is none to be kept, or not ASCII. */
  take(bytes: Uint8Array, from: number, end: number): string | null {
    if (end - from > wordBytesMax) return null;
    let hash = offsetBasis;
    for (let at = from; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), prime);
    const place = (hash ^ (hash >>> 15)) & (places - 1);
    const known = this.#known[place] ?? '';
    if (isText(known, bytes, from, end)) return known;
    const codes: number[] = [];
    for (let at = from; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x80) return null;
      codes.push(byte);
    }
    const text = String.fromCharCode(...codes);
    this.#known[place] = text;
    return text;
  }
}

function isText(text: string, bytes: Uint8Array, from: number, end: number): boolean {
  if (text.length !== end - from) return false;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== bytes[from + at]) return false;
  }
  return true;
}
