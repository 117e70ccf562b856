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
    return index === undefined ? null : (this.#instants[index] ?? null);
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
      .map((key, index) => ({ key, at: this.#instants[index] as Instant }))
      .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
      .map(({ key }) => key);
  }

  /** Puts `key` where `index` is free, moving it up or down to its place. */
  #settle(index: number, key: string, at: Instant): void {
    const end = this.#rise(index, key, at);
    if (end === index) this.#sink(index, key, at);
  }

  // Both compare in place, without calls: a number that is handed on is an object of its own.

  /** Where it came to stand. */
  #rise(from: number, key: string, at: Instant): number {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#keys[parent] as string;
      const aboveAt = this.#instants[parent] as Instant;
      if (aboveAt < at || (aboveAt === at && above <= key)) break;
      this.#keys[index] = above;
      this.#instants[index] = aboveAt;
      this.#index.set(above, index);
      index = parent;
    }
    this.#place(index, key, at);
    return index;
  }

  #sink(from: number, key: string, at: Instant): void {
    const { length } = this.#keys;
    let index = from;
    for (let child = 2 * index + 1; child < length; child = 2 * index + 1) {
      let below = this.#keys[child] as string;
      let belowAt = this.#instants[child] as Instant;
      if (child + 1 < length) {
        const right = this.#keys[child + 1] as string;
        const rightAt = this.#instants[child + 1] as Instant;
        if (rightAt < belowAt || (rightAt === belowAt && right < below)) {
          child += 1;
          below = right;
          belowAt = rightAt;
        }
      }
      if (at < belowAt || (at === belowAt && key <= below)) break;
      this.#keys[index] = below;
      this.#instants[index] = belowAt;
      this.#index.set(below, index);
      index = child;
    }
    this.#place(index, key, at);
  }

  #place(index: number, key: string, at: Instant): void {
    this.#keys[index] = key;
    this.#instants[index] = at;
    this.#index.set(key, index);
  }
}
