const chunkLengthMax = 1024;

/** The first index whose element is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * An ordered set of strings in chunks of bounded length, so that adding one of 150,000 keys moves
 * at most a thousand others and a list never sorts. Order is by UTF-16 code unit, which for
 * object names is the byte order of the real server's storage keys.
 */
export class SortedKeys {
  readonly #chunks: string[][];

  /** Those of `other`, or none. */
  constructor(other: SortedKeys | null = null) {
    this.#chunks = other ? other.#chunks.map((chunk) => [...chunk]) : [[]];
  }

  add(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at] as string[];
    const index = lowerBound(chunk, key);
    if (chunk[index] === key) return;
    chunk.splice(index, 0, key);
    if (chunk.length > chunkLengthMax) {
      this.#chunks.splice(at + 1, 0, chunk.splice(chunkLengthMax >>> 1));
    }
  }

  delete(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at] as string[];
    const index = lowerBound(chunk, key);
    if (chunk[index] !== key) return;
    chunk.splice(index, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /** The keys in [from, to), in order. */
  *range(from: string, to: string): Generator<string> {
    for (let at = this.#chunkFor(from); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as string[];
      for (let index = lowerBound(chunk, from); index < chunk.length; index++) {
        const key = chunk[index] as string;
        if (key >= to) return;
        yield key;
      }
    }
  }

  /** How many keys lie in [from, to). */
  count(from: string, to: string): number {
    return Math.max(0, this.#rank(to) - this.#rank(from));
  }

  #rank(key: string): number {
    const at = this.#chunkFor(key);
    let before = 0;
    for (let index = 0; index < at; index++) before += (this.#chunks[index] as string[]).length;
    return before + lowerBound(this.#chunks[at] as string[], key);
  }

  /** The last chunk that starts at or before `key`; the first one when none does. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (((this.#chunks[middle] as string[])[0] as string) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
