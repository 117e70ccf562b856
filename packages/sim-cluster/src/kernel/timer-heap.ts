// The timers of a virtual clock in a heap.

/** A callback that waits for its instant; `index` is its place in the heap, -1 when it has left. */
export interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  index: number;
}

/** Pending callbacks, earliest first; a binary heap, so thousands of timers stay cheap. */
export class TimerHeap {
  readonly #items: Waiting[] = [];

  /** The earliest entry, or null when nothing waits. */
  first(): Waiting | null {
    return this.#items[0] ?? null;
  }

  add(waiting: Waiting): void {
    this.#items.push(waiting);
    this.#rise(waiting, this.#items.length - 1);
  }

  /** Takes an entry out; one that has already left is ignored. */
  remove(waiting: Waiting): void {
    const { index } = waiting;
    if (index < 0) return;
    waiting.index = -1;
    const last = this.#items.pop();
    if (!last || last === waiting) return;
    this.#rise(last, index);
    this.#sink(last, last.index);
  }

  #rise(waiting: Waiting, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#items[parentIndex];
      if (!parent || !isEarlier(waiting, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(waiting, index);
  }

  #sink(waiting: Waiting, from: number): void {
    let index = from;
    for (;;) {
      const left = this.#items[2 * index + 1];
      if (!left) break;
      const right = this.#items[2 * index + 2];
      const child = right && isEarlier(right, left) ? right : left;
      if (!isEarlier(child, waiting)) break;
      const childIndex = child.index;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(waiting, index);
  }

  #place(waiting: Waiting, index: number): void {
    this.#items[index] = waiting;
    waiting.index = index;
  }
}

function isEarlier(a: Waiting, b: Waiting): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
