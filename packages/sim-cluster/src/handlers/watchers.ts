// Keeps account of the programs that follow each collection.

/** Open watches, counted by the client's program, with which its User-Agent begins, and the resource. */
export class Watchers {
  readonly #open = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  /**
   * Notes that a watch has begun, and returns a function to call when the watch is over. `isWhole`:
   * a watch of the objects of all namespaces, rather than of their metadata alone.
   */
  open(userAgent: string, plural: string, isWhole: boolean): () => void {
    const program = userAgent.split('/')[0] ?? '';
    const keys = [keyOf(program, plural), ...(isWhole ? [wholeKeyOf(program, plural)] : [])];
    for (const key of keys) this.#add(key, 1);
    return () => {
      for (const key of keys.splice(0)) this.#add(key, -1);
    };
  }

  /** True if the program follows the collection, or a part of it. */
  has(program: string, plural: string): boolean {
    return this.#open.has(keyOf(program, plural));
  }

  /** True if the program follows the whole collection. */
  hasWhole(program: string, plural: string): boolean {
    return this.#open.has(wholeKeyOf(program, plural));
  }

  /** Calls `listener` when a watch has begun or is over, until the result is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #add(key: string, change: number): void {
    const count = (this.#open.get(key) ?? 0) + change;
    if (count > 0) this.#open.set(key, count);
    else this.#open.delete(key);
    for (const listener of this.#listeners) listener();
  }
}

const keyOf = (program: string, plural: string): string => `${program} ${plural}`;
const wholeKeyOf = (program: string, plural: string): string => `${program} all ${plural}`;
