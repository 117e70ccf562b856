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

/** Those that wait, by namespace: each gives one, and is the last then. */
export class EventLanes<T> {
  readonly #queues = new Map<string, EventQueue<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  has(namespace: string): boolean {
    return this.#queues.has(namespace);
  }

  namespaces(): Iterable<string> {
    return this.#queues.keys();
  }

  push(namespace: string, item: T): void {
    this.#queueOf(namespace).push(item);
  }

  putBack(namespace: string, item: T): void {
    this.#queueOf(namespace).putBack(item);
  }

  /** The next of the first namespace that may go; undefined: none may. */
  take(mayGo: (namespace: string) => boolean): T | undefined {
    for (const [namespace, queue] of this.#queues) {
      if (!mayGo(namespace)) continue;
      const item = queue.shift();
      this.#length -= 1;
      this.#queues.delete(namespace);
      if (queue.length > 0) this.#queues.set(namespace, queue);
      return item;
    }
    return undefined;
  }

  clear(): void {
    this.#queues.clear();
    this.#length = 0;
  }

  #queueOf(namespace: string): EventQueue<T> {
    const queue = this.#queues.get(namespace) ?? new EventQueue<T>();
    this.#queues.set(namespace, queue);
    this.#length += 1;
    return queue;
  }
}
