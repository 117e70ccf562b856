// The documents of a file that kubectl printed, read piece by piece.

/** What a file held, and the parts of it that are not even text of its format. */
export interface Parsed {
  readonly values: readonly unknown[];
  /** `item 7: Unexpected token ...` */
  readonly faults: readonly string[];
}

/** Takes a text in pieces of any length. */
export interface Splitter {
  push(text: string): void;
  end(): void;
}

/**
 * Puts documents together from parts that are parsed one by one as they come, so that a text may be
 * longer than a string can be: the items of a list, then its shell, which is the list without them.
 */
export class Documents implements Parsed {
  readonly values: unknown[] = [];
  readonly faults: string[] = [];
  readonly #parse: (text: string) => unknown;
  #items: unknown[] = [];
  #count = 0;

  /** `parse` throws an Error for a text that is none. */
  constructor(parse: (text: string) => unknown) {
    this.#parse = parse;
  }

  /** The next item of the document that has begun. */
  item(text: string): void {
    this.#count++;
    const item = this.#attempt(text, `item ${this.#count}`);
    if (item !== undefined) this.#items.push(item);
  }

  /** The end of a document. */
  shell(text: string): void {
    const shell = this.#attempt(text, `document ${this.values.length + 1}`);
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.values.push(isObject(shell) ? { ...shell, items } : { items });
    else if (shell !== undefined && shell !== null) this.values.push(shell);
  }

  #attempt(text: string, what: string): unknown {
    try {
      return this.#parse(text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const [line = ''] = error.message.split('\n');
      this.faults.push(`${what}: ${line}`);
      return undefined;
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
