/** A queue in which first come is first served, and some come back to its head. */
export class EventQueue<T> {
  /** Those that came back, the next one last. */
  readonly #returned: T[] = [];
  #items: T[] = [];
  /** How many of the items are gone. */
  #gone = 0;

  get length(): number {
    return this.#returned.length + this.#items.length - this.#gone;
  }

  /** Goes to the end. */
  push(item: T): void {
    this.#items.push(item);
  }

  /** Comes back to the head. */
  putBack(item: T): void {
    this.#returned.push(item);
  }

  /** The next one, which leaves. */
  shift(): T | undefined {
    const returned = this.#returned.pop();
    if (returned !== undefined) return returned;
    const item = this.#items[this.#gone];
    if (item === undefined) return undefined;
    this.#gone += 1;
    // Array.shift would move all that is left, each time.
    if (2 * this.#gone >= this.#items.length) {
      this.#items = this.#items.slice(this.#gone);
      this.#gone = 0;
    }
    return item;
  }

  clear(): void {
    this.#returned.length = 0;
    this.#items = [];
    this.#gone = 0;
  }
}
