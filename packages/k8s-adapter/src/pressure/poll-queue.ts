import type { Instant } from '@taintmgr/core/time';

/** Names that wait for their turn to be polled, first come, first served. */
export class PollQueue {
  readonly #due = new Map<string, Instant>();
  #last: Instant = Number.NEGATIVE_INFINITY;

  /** Puts a name at the end: its turn is at `at`, but not before that of those ahead of it. */
  put(name: string, at: Instant): void {
    if (this.#due.size === 0) this.#last = at;
    this.#last = Math.max(this.#last, at);
    this.#due.delete(name);
    this.#due.set(name, this.#last);
  }

  delete(name: string): void {
    this.#due.delete(name);
  }

  /** When the first is due; null: there is none. */
  next(): Instant | null {
    for (const at of this.#due.values()) return at;
    return null;
  }

  /** Takes the first out, if it is due by now. */
  take(now: Instant): string | null {
    for (const [name, at] of this.#due) {
      if (at > now) break;
      this.#due.delete(name);
      return name;
    }
    return null;
  }
}
