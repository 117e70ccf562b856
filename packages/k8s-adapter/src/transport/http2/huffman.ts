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
const end = bitsOf.length - 1;

/** Where each bit leads from each place: to another place, or, if negative, to a byte. */
let tree: Int16Array | null = null;

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

/** The text, byte by byte; null where it is none. What is left of the last byte is ones. */
export function huffmanText(bytes: Uint8Array, from: number, to: number): string | null {
  tree ??= grown();
  const codes: number[] = [];
  let place = 0;
  let [bits, isPadding] = [0, true];
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    for (let bit = 7; bit >= 0; bit--) {
      const one = (byte >>> bit) & 1;
      const next = tree[2 * place + one] ?? 0;
      if (next >= 0) {
        place = next;
        bits += 1;
        isPadding &&= one === 1;
        continue;
      }
      if (next === -1 - end) return null;
      codes.push(-1 - next);
      place = 0;
      bits = 0;
      isPadding = true;
    }
  }
  return bits < 8 && isPadding ? String.fromCharCode(...codes) : null;
}
