/** Commands that were sent and not yet answered, at most `max` at a time. */
export class InFlight {
  readonly #max: number;
  readonly #prefix: string;
  readonly #keys = new Map<string, string>();
  #count = 0;

  /** `prefix` begins every id this one hands out. */
  constructor(prefix: string, max: number) {
    this.#prefix = prefix;
    this.#max = max;
  }

  get hasRoom(): boolean {
    return this.room > 0;
  }

  /** The number that may still begin. */
  get room(): number {
    return this.#max - this.#keys.size;
  }

  /** Takes a place for work on `key` and answers the id of the command. */
  start(key: string): string {
    const id = `${this.#prefix}-${++this.#count}`;
    this.#keys.set(id, key);
    return id;
  }

  /** Frees the place of a command; its key, or null for an id that is not outstanding. */
  finish(id: string): string | null {
    const key = this.#keys.get(id) ?? null;
    this.#keys.delete(id);
    return key;
  }
}

/** Who asked for what has this id: its part before the first `/`, or else before its number. */
export function askerOf(id: string): string {
  const end = id.indexOf('/');
  return id.slice(0, end < 0 ? id.lastIndexOf('-') : end);
}
