/** A map of bounded size that forgets what was not asked for the longest time. */
export class RecentMap<T> {
  readonly #entries = new Map<string, T>();
  /** Goes on from what was forgotten last: to begin anew would pass over all that are gone. */
  readonly #oldest = this.#entries.keys();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** The entry, which becomes the most recent one; made where there is none. */
  getOrAdd(key: string, make: () => T): T {
    const known = this.#entries.get(key);
    const entry = known ?? make();
    if (known !== undefined) this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#sizeMax) this.#forgetOldest();
    return entry;
  }

  #forgetOldest(): void {
    const { value } = this.#oldest.next();
    if (value !== undefined) this.#entries.delete(value);
  }
}
