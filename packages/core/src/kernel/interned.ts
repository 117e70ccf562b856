// Equal values kept once.

/** Equal values kept once, for as long as somebody uses them. */
export class Interned<T> {
  readonly #keyOf: (value: T) => string;
  readonly #kept = new Map<string, { readonly value: T; uses: number }>();

  constructor(keyOf: (value: T) => string) {
    this.#keyOf = keyOf;
  }

  take(value: T): T {
    const key = this.#keyOf(value);
    const entry = this.#kept.get(key);
    if (entry) {
      entry.uses += 1;
      return entry.value;
    }
    this.#kept.set(key, { value, uses: 1 });
    return value;
  }

  release(value: T): void {
    const key = this.#keyOf(value);
    const entry = this.#kept.get(key);
    if (entry && --entry.uses === 0) this.#kept.delete(key);
  }
}
