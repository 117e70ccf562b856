// Chance that can be repeated: equal seeds and equal texts give equal numbers, on every platform.

/** A number in [0, 1) that belongs to the text (FNV-1a over UTF-16 code units, mixed once). */
export function chanceOf(seed: number, text: string): number {
  let value = 0x811c9dc5 ^ seed;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return ((value ^ (value >>> 16)) >>> 0) / 2 ** 32;
}
