import type { Instant } from './time.ts';

interface Entry {
  readonly key: string;
  readonly at: Instant;
}

/**
 * Keyed deadlines in a binary heap: one instant per key, cheap to move and to cancel. Equal
 * instants come out in the order of their keys, so what is due does not depend on history.
 */
export class Schedule {
  readonly #heap: Entry[] = [];
  readonly #index = new Map<string, number>();

  get size(): number {
    return this.#heap.length;
  }

  /** The instant set for `key`, or null. */
  at(key: string): Instant | null {
    const index = this.#index.get(key);
    return index === undefined ? null : this.#entry(index).at;
  }

  /** Sets or moves the instant of `key`. */
  set(key: string, at: Instant): void {
    const entry = { key, at };
    const index = this.#index.get(key);
    if (index === undefined) {
      this.#heap.push(entry);
      this.#rise(this.#heap.length - 1, entry);
    } else {
      this.#settle(index, entry);
    }
  }

  /** Forgets `key`; false when it was not set. */
  cancel(key: string): boolean {
    const index = this.#index.get(key);
    if (index === undefined) return false;
    this.#index.delete(key);
    const last = this.#heap.pop();
    if (last && last.key !== key) this.#settle(index, last);
    return true;
  }

  /** The earliest instant, or null when nothing is set. */
  next(): Instant | null {
    return this.#heap[0]?.at ?? null;
  }

  /** The key of the earliest instant, or null when nothing is set. */
  first(): string | null {
    return this.#heap[0]?.key ?? null;
  }

  /** Takes out the earliest key if it is due at `now`, else null. */
  takeDue(now: Instant): string | null {
    const first = this.#heap[0];
    if (!first || first.at > now) return null;
    this.cancel(first.key);
    return first.key;
  }

  /** All keys with their instants, in no particular order. */
  entries(): readonly Readonly<Entry>[] {
    return this.#heap;
  }

  #entry(index: number): Entry {
    const entry = this.#heap[index];
    if (!entry) throw new Error(`taintmgr: broken invariant: no schedule entry ${index}`);
    return entry;
  }

  /** Puts `entry` where `index` is free, moving it up or down to its place. */
  #settle(index: number, entry: Entry): void {
    const parent = (index - 1) >> 1;
    if (index > 0 && before(entry, this.#entry(parent))) this.#rise(index, entry);
    else this.#sink(index, entry);
  }

  #rise(from: number, entry: Entry): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#entry(parent);
      if (!before(entry, above)) break;
      this.#place(index, above);
      index = parent;
    }
    this.#place(index, entry);
  }

  #sink(from: number, entry: Entry): void {
    let index = from;
    for (let child = 2 * index + 1; child < this.#heap.length; child = 2 * index + 1) {
      const right = this.#heap[child + 1];
      if (right && before(right, this.#entry(child))) child += 1;
      const below = this.#entry(child);
      if (!before(below, entry)) break;
      this.#place(index, below);
      index = child;
    }
    this.#place(index, entry);
  }

  #place(index: number, entry: Entry): void {
    this.#heap[index] = entry;
    this.#index.set(entry.key, index);
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.key < b.key);
}
