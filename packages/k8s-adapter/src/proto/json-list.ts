// Reads a list of the API while it comes, a few objects at a time.
import { asList, asRecord, asText, isRecord, parseJson } from './json.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

/** One page of a list. */
export interface ListPage<T> {
  /** By which the next page is asked for; '': it is the last. */
  readonly continueToken: string;
  readonly items: readonly T[];
}

export interface ListReaderOptions<T> {
  /** What is wanted of each object. */
  readonly read: (object: unknown) => T;
  /** Called when it is known how the next page is asked for: before the objects, as a rule. */
  readonly onToken?: (continueToken: string) => void;
}

const opening = '"items":[';
/** What stands before the objects is short. */
const headLengthMax = 100_000;
/** So much is parsed together, where more comes at once. */
const pieceBytesMax = 32 * 1024;

/**
 * Reads a page of a list. As API servers write them, objects come last: these are parsed a few at a time
 * as they come, and what was parsed of them is forgotten when the next are: a page of pods is megabytes,
 * and of a pod we want a few fields. What is written otherwise is parsed as a whole at its end.
 *
 * Objects begin alike, e.g. with `{"metadata":`, and no string can look like that, since quotes in it are
 * escaped. What stands deeper may: then what comes before is no JSON, and the next cut is tried later.
 */
export class ListReader<T> {
  readonly #options: ListReaderOptions<T>;
  readonly #bytes = new Utf8Pieces();
  readonly #items: T[] = [];
  /** What stands before the objects; null: it has not come, or not as we know it. */
  #head: string | null = null;
  /** What stands between two objects; null: that is not known. */
  #between: string | null = null;
  /** What was not parsed yet. */
  #text = '';
  /** Nothing is tried before there is so much of it: what has failed once may fail again. */
  #tryAt = 0;

  constructor(options: ListReaderOptions<T>) {
    this.#options = options;
  }

  /** Takes the next part of the text. */
  push(data: Uint8Array | string): void {
    if (typeof data === 'string') this.#take(data);
    else {
      for (let at = 0; at < data.length; at += pieceBytesMax) {
        this.#take(this.#bytes.push(data.subarray(at, at + pieceBytesMax)));
      }
    }
  }

  /** The page, when all has come; undefined: it is no JSON. */
  end(): ListPage<T> | undefined {
    this.#text += this.#bytes.end();
    const isBegun = this.#items.length > 0;
    // What stands for the objects that were read shows that these are the list: JSON may have it twice.
    const page = parseJson(`${this.#head ?? ''}${isBegun ? 'null,' : ''}${this.#text}`);
    const items = asList(asRecord(page).items);
    if (page === undefined || (isBegun && items[0] !== null)) return undefined;
    this.#read(isBegun ? items.slice(1) : items);
    return { continueToken: tokenOf(page), items: this.#items };
  }

  #take(text: string): void {
    this.#text += text;
    if (this.#text.length < this.#tryAt) return;
    if (this.#head === null) this.#findHead();
    if (this.#head !== null) this.#readSome();
  }

  #findHead(): void {
    const from = this.#text.indexOf(opening) + opening.length;
    if (from < opening.length) {
      if (this.#text.length > headLengthMax) this.#tryAt = Number.POSITIVE_INFINITY;
      return;
    }
    const head = this.#text.slice(0, from);
    const page = parseJson(`${head}]}`);
    // Its last member, in which nothing is left: so that is the one whose objects come.
    if (!isRecord(page) || !Array.isArray(page.items) || page.items.length > 0) {
      this.#tryAt = Number.POSITIVE_INFINITY;
      return;
    }
    this.#head = head;
    this.#text = this.#text.slice(from);
    this.#options.onToken?.(tokenOf(page));
  }

  #readSome(): void {
    this.#between ??= betweenObjects(this.#text);
    const end = this.#between === null ? -1 : this.#text.lastIndexOf(this.#between) + 1;
    const few = end > 0 ? parseJson(`[${this.#text.slice(0, end)}]`) : undefined;
    if (Array.isArray(few)) {
      this.#text = this.#text.slice(end + 1);
      this.#tryAt = 0;
      this.#read(few);
    } else this.#tryAt = 2 * this.#text.length;
  }

  #read(objects: readonly unknown[]): void {
    for (const object of objects) this.#items.push(this.#options.read(object));
  }
}

/** Null: the first object has not come so far, or does not begin as one of the API. */
function betweenObjects(text: string): string | null {
  const [start] = /^\{"\w+":/.exec(text) ?? [];
  return start === undefined ? null : `},${start}`;
}

function tokenOf(page: unknown): string {
  return asText(asRecord(asRecord(page).metadata).continue);
}
