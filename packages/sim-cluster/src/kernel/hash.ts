/** FNV-1a over UTF-16 code units: a 32-bit hash that is the same everywhere. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** A separate seed for one named part of the cluster, so that parts do not disturb each other. */
export function seedFor(seed: number, part: string): number {
  return hash(`${seed}/${part}`);
}
