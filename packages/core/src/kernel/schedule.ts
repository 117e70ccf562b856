import type { Instant } from './time.ts';

interface Entry {
  readonly key: string;
  /** Where it stands in the heap: a table of that would be written to at each step up or down. */
  index: number;
}

/**
 * Keyed deadlines in a binary heap: one instant per key, cheap to move and to cancel. Equal
 * instants come out in the order of their keys, so what is due does not depend on history.
 */
export class Schedule {
  /** The heap, as two lists: one of numbers takes no object for each. */
  readonly #heap: Entry[] = [];
  readonly #instants: Instant[] = [];
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#heap.length;
  }

  /** The instant set for `key`, or null. */
  at(key: string): Instant | null {
    const entry = this.#entries.get(key);
    return entry === undefined ? null : (this.#instants[entry.index] ?? null);
  }

  /** Sets or moves the instant of `key`. */
  set(key: string, at: Instant): void {
    const known = this.#entries.get(key);
    if (known) {
      this.#settle(known.index, known, at);
      return;
    }
    const entry = { key, index: this.#heap.length };
    this.#entries.set(key, entry);
    this.#rise(entry.index, entry, at);
  }

  /** Forgets `key`; false when it was not set. */
  cancel(key: string): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#entries.delete(key);
    const last = this.#heap.pop();
    const at = this.#instants.pop();
    if (last && at !== undefined && last !== entry) this.#settle(entry.index, last, at);
    return true;
  }

  /** The earliest instant, or null when nothing is set. */
  next(): Instant | null {
    return this.#instants[0] ?? null;
  }

  /** The key of the earliest instant, or null when nothing is set. */
  first(): string | null {
    return this.#heap[0]?.key ?? null;
  }

  /** Takes out the earliest key if it is due at `now`, else null. */
  takeDue(now: Instant): string | null {
    const key = this.#heap[0]?.key;
    const at = this.#instants[0];
    if (key === undefined || at === undefined || at > now) return null;
    this.cancel(key);
    return key;
  }

  /** All keys in the order of their instants, and of the same by name. */
  inOrder(): readonly string[] {
    return this.#heap
      .map(({ key }, index) => ({ key, at: this.#instants[index] as Instant }))
      .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
      .map(({ key }) => key);
  }

  /** Puts `entry` where `index` is free, moving it up or down to its place. */
  #settle(index: number, entry: Entry, at: Instant): void {
    const end = this.#rise(index, entry, at);
    if (end === index) this.#sink(index, entry, at);
  }

  // The methods compare in place, without calls: a number that is passed on is allocated.

  /** Where it came to stand. */
  #rise(from: number, entry: Entry, at: Instant): number {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent] as Entry;
      const aboveAt = this.#instants[parent] as Instant;
      if (aboveAt < at || (aboveAt === at && above.key <= entry.key)) break;
      this.#heap[index] = above;
      this.#instants[index] = aboveAt;
      above.index = index;
      index = parent;
    }
    this.#place(index, entry, at);
    return index;
  }

  #sink(from: number, entry: Entry, at: Instant): void {
    const { length } = this.#heap;
    let index = from;
    for (let child = 2 * index + 1; child < length; child = 2 * index + 1) {
      let below = this.#heap[child] as Entry;
      let belowAt = this.#instants[child] as Instant;
      if (child + 1 < length) {
        const right = this.#heap[child + 1] as Entry;
        const rightAt = this.#instants[child + 1] as Instant;
        if (rightAt < belowAt || (rightAt === belowAt && right.key < below.key)) {
          child += 1;
          below = right;
          belowAt = rightAt;
        }
      }
      if (at < belowAt || (at === belowAt && entry.key <= below.key)) break;
      this.#heap[index] = below;
      this.#instants[index] = belowAt;
      below.index = index;
      index = child;
    }
    this.#place(index, entry, at);
  }

  #place(index: number, entry: Entry, at: Instant): void {
    this.#heap[index] = entry;
    this.#instants[index] = at;
    entry.index = index;
  }
}
