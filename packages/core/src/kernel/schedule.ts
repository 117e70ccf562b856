import type { Instant } from './time.ts';

/**
 * Keyed deadlines in a binary heap: one instant per key, cheap to move and to cancel. Equal
 * instants come out in the order of their keys, so what is due does not depend on history.
 */
export class Schedule {
  /** The heap, as two lists: one of numbers takes no object for each. */
  readonly #keys: string[] = [];
  readonly #instants: Instant[] = [];
  readonly #index = new Map<string, number>();

  get size(): number {
    return this.#keys.length;
  }

  /** The instant set for `key`, or null. */
  at(key: string): Instant | null {
    const index = this.#index.get(key);
    return index === undefined ? null : this.#instantAt(index);
  }

  /** Sets or moves the instant of `key`. */
  set(key: string, at: Instant): void {
    const index = this.#index.get(key);
    if (index === undefined) this.#rise(this.#keys.length, key, at);
    else this.#settle(index, key, at);
  }

  /** Forgets `key`; false when it was not set. */
  cancel(key: string): boolean {
    const index = this.#index.get(key);
    if (index === undefined) return false;
    this.#index.delete(key);
    const last = this.#keys.pop();
    const at = this.#instants.pop();
    if (last !== undefined && at !== undefined && last !== key) this.#settle(index, last, at);
    return true;
  }

  /** The earliest instant, or null when nothing is set. */
  next(): Instant | null {
    return this.#instants[0] ?? null;
  }

  /** The key of the earliest instant, or null when nothing is set. */
  first(): string | null {
    return this.#keys[0] ?? null;
  }

  /** Takes out the earliest key if it is due at `now`, else null. */
  takeDue(now: Instant): string | null {
    const key = this.#keys[0];
    const at = this.#instants[0];
    if (key === undefined || at === undefined || at > now) return null;
    this.cancel(key);
    return key;
  }

  /** All keys in the order of their instants, and of the same by name. */
  inOrder(): readonly string[] {
    return this.#keys
      .map((key, index) => ({ key, at: this.#instantAt(index) }))
      .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
      .map(({ key }) => key);
  }

  #instantAt(index: number): Instant {
    const at = this.#instants[index];
    if (at === undefined) throw broken(index);
    return at;
  }

  #keyAt(index: number): string {
    const key = this.#keys[index];
    if (key === undefined) throw broken(index);
    return key;
  }

  /** Puts `key` where `index` is free, moving it up or down to its place. */
  #settle(index: number, key: string, at: Instant): void {
    const parent = (index - 1) >> 1;
    if (index > 0 && this.#isBefore(key, at, parent)) this.#rise(index, key, at);
    else this.#sink(index, key, at);
  }

  #rise(from: number, key: string, at: Instant): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(key, at, parent)) break;
      this.#place(index, this.#keyAt(parent), this.#instantAt(parent));
      index = parent;
    }
    this.#place(index, key, at);
  }

  #sink(from: number, key: string, at: Instant): void {
    let index = from;
    const { length } = this.#keys;
    for (let child = 2 * index + 1; child < length; child = 2 * index + 1) {
      const right = child + 1;
      if (right < length && this.#isBefore(this.#keyAt(right), this.#instantAt(right), child)) {
        child = right;
      }
      const below = this.#keyAt(child);
      const belowAt = this.#instantAt(child);
      if (at < belowAt || (at === belowAt && key <= below)) break;
      this.#place(index, below, belowAt);
      index = child;
    }
    this.#place(index, key, at);
  }

  /** Whether the key is due before what stands at `index`. */
  #isBefore(key: string, at: Instant, index: number): boolean {
    const other = this.#instantAt(index);
    return at < other || (at === other && key < this.#keyAt(index));
  }

  #place(index: number, key: string, at: Instant): void {
    this.#keys[index] = key;
    this.#instants[index] = at;
    this.#index.set(key, index);
  }
}

function broken(index: number): Error {
  return new Error(`taintmgr: broken invariant: no schedule entry ${index}`);
}
