// Reads texts in HPACK's Huffman code (RFC 7541, appendix B), in which servers write headers.

/** How many bits the code of each byte has, and last that of the end, which never stands in a text. */
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
 * Shorter codes come before longer ones, and those of one length in the order of their bytes: so the
 * places are found length by length, without a look at any code. It is grown when the first text comes.
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

/** The text, byte by byte; null where it is none. What is left of the last byte is ones. */
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

/** From this bit on, wherever the text ends: a code that does not fit is none. */
function eightBits(bytes: Uint8Array, bit: number): number {
  const at = bit >>> 3;
  return ((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) >>> (8 - (bit & 7))) & 0xff;
}

function isPadding(bytes: Uint8Array, begin: number, bitsEnd: number): boolean {
  const left = bitsEnd - begin;
  const ones = (1 << left) - 1;
  return left < 8 && ((bytes[begin >>> 3] ?? 0) & ones) === ones;
}
