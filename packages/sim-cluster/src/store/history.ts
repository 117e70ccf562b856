import type { Change } from './cluster-api.ts';

/** A change with the resourceVersion it got, as a number. */
export interface Recorded extends Change {
  readonly rv: number;
}

/**
 * The last changes of one resource, oldest first. Older ones are gone: a watch or an exact list
 * from before `expiredThrough` cannot be served any more.
 */
export class History {
  #entries: (Recorded | undefined)[] = [];
  #first = 0;
  #expiredThrough: number;
  #length: number;

  /** Keeps `length` changes; nothing before `startRv` was ever there. */
  constructor(startRv: number, length: number) {
    this.#expiredThrough = startRv;
    this.#length = length;
  }

  /** States and events after this resourceVersion are known, and the state at it. */
  get expiredThrough(): number {
    return this.#expiredThrough;
  }

  push(change: Recorded): void {
    this.#entries.push(change);
    this.#trim();
  }

  /** Sets how many changes are kept and forgets the rest. */
  resize(length: number): void {
    this.#length = length;
    this.#trim();
  }

  /** Forgets every change up to and including `rv`, as a compaction does. */
  expire(rv: number): void {
    while (this.#oldest && this.#oldest.rv <= rv) this.#drop();
    this.#expiredThrough = Math.max(this.#expiredThrough, rv);
  }

  /** The changes after `rv`, oldest first. */
  *after(rv: number): Generator<Recorded> {
    for (let index = this.#indexAfter(rv); index < this.#entries.length; index++) {
      yield this.#entries[index] as Recorded;
    }
  }

  /** The changes after `rv`, newest first. */
  *backTo(rv: number): Generator<Recorded> {
    const stop = this.#indexAfter(rv);
    for (let index = this.#entries.length - 1; index >= stop; index--) {
      yield this.#entries[index] as Recorded;
    }
  }

  get #oldest(): Recorded | undefined {
    return this.#entries[this.#first];
  }

  #indexAfter(rv: number): number {
    let low = this.#first;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle] as Recorded).rv <= rv) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    while (this.#entries.length - this.#first > this.#length) this.#drop();
  }

  #drop(): void {
    this.#expiredThrough = (this.#oldest as Recorded).rv;
    this.#entries[this.#first++] = undefined;
    if (this.#first > 1024 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}
