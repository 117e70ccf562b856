// Reads a list of the API while it comes, a few objects at a time.
import { answerFault, itemFault, statedFailure } from './answer.ts';
import { asList, asRecord, asText, isRecord, type JsonRecord, parseJson } from './json.ts';
import type { ApiRequest } from './requests.ts';

/** One page of a list. */
export interface ListPage<T> {
  readonly kind: 'page';
  /** By which the next page is asked for; '': it is the last. */
  readonly continueToken: string;
  readonly items: readonly T[];
}

/** The failure that came in the place of a page. */
export type NoPage =
  /** A v1 Status. */
  | { readonly kind: 'refused'; readonly status: JsonRecord }
  | { readonly kind: 'wrong'; readonly why: string };

export interface ListReaderOptions<T> {
  /** The request that was made. */
  readonly request: ApiRequest;
  /** Reads the wanted part of each object. */
  readonly read: (object: unknown) => T;
  /** Called when it is known how the next page is asked for: before the objects, as a rule. */
  readonly onToken?: (continueToken: string) => void;
}

const opening = '"items":[';
/** The head before the objects is short. */
const headBytesMax = 100_000;
/** The amount that is parsed together, where more comes at once. */
const pieceBytesMax = 32 * 1024;
/** The beginning of an object is shorter, or all are read at the end. */
const beginningBytesMax = 100;
const [listBegins, listEnds] = [0x5b, 0x5d];

/**
 * Reads a page of a list. As API servers write them, objects come last: these are parsed a few at a
 * time as they come, and the parsed text is forgotten when the next are: a page of pods is
 * megabytes, and of a pod we want a few fields. A list in another form is parsed as a whole at its
 * end.
 *
 * Objects begin alike, e.g. with `{"metadata":`, and no string can look like that, since quotes in
 * it are escaped. A deeper object may: then the text before is no JSON, and the next cut is tried
 * later.
 */
export class ListReader<T> {
  readonly #options: ListReaderOptions<T>;
  readonly #items: T[] = [];
  /** The text before the objects; null: it has not come, or not as we know it. */
  #head: string | null = null;
  /** The bytes between two objects; null: that is not known. */
  #between: Buffer | null = null;
  /** The bytes that were not parsed yet, after a byte for the bracket that it is parsed in. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(2 * pieceBytesMax);
  #end = 1;
  /** The reason why an object does not belong to the list; null: all do. */
  #fault: string | null = null;
  /** Nothing is tried before this much of it is there: a failed try may fail again. */
  #tryAt = 0;

  constructor(options: ListReaderOptions<T>) {
    this.#options = options;
  }

  /** Takes the next part of the text: bytes are in UTF-8. */
  push(data: Uint8Array | string): void {
    if (this.#fault !== null) return;
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at < bytes.length; at += pieceBytesMax) {
      this.#take(bytes.subarray(at, at + pieceBytesMax));
    }
  }

  /** The page, when all has come. */
  end(): ListPage<T> | NoPage {
    if (this.#fault !== null) return { kind: 'wrong', why: this.#fault };
    const isBegun = this.#items.length > 0;
    // The placeholder of the objects that were read shows that these are the list: JSON may have it
    // twice.
    const page = parseJson(
      `${this.#head ?? ''}${isBegun ? 'null,' : ''}${this.#text(1, this.#end)}`,
    );
    const status = statedFailure(page);
    if (status) return { kind: 'refused', status };
    const items = asList(asRecord(page).items);
    const isList = !isBegun || items[0] === null;
    const rest = isBegun && isRecord(page) ? { ...page, items: items.slice(1) } : page;
    const why = answerFault(this.#options.request, isList ? rest : undefined);
    if (why !== null) return { kind: 'wrong', why };
    this.#read(asList(asRecord(rest).items));
    return { kind: 'page', continueToken: tokenOf(page), items: this.#items };
  }

  #take(piece: Uint8Array): void {
    this.#append(piece);
    if (this.#end < this.#tryAt) return;
    if (this.#head === null) this.#findHead();
    if (this.#head !== null) this.#readSome();
  }

  #findHead(): void {
    const from = this.#bytes.subarray(0, this.#end).indexOf(opening, 1) + opening.length;
    if (from < opening.length) {
      if (this.#end > headBytesMax) this.#tryAt = Number.POSITIVE_INFINITY;
      return;
    }
    const head = this.#text(1, from);
    const page = parseJson(`${head}]}`);
    // Its last member, in which nothing is left: so that is the one whose objects come. Of what kind they are
    // stands before them.
    const isHead = isRecord(page) && Array.isArray(page.items) && page.items.length === 0;
    if (!isHead || answerFault(this.#options.request, page) !== null) {
      this.#tryAt = Number.POSITIVE_INFINITY;
      return;
    }
    this.#head = head;
    this.#dropTo(from);
    this.#options.onToken?.(tokenOf(page));
  }

  #readSome(): void {
    this.#between ??= betweenObjects(this.#text(1, Math.min(this.#end, beginningBytesMax)));
    const end = this.#between ? this.#bytes.subarray(0, this.#end).lastIndexOf(this.#between) : -1;
    const few = end > 0 ? this.#parseTo(end + 1) : undefined;
    if (Array.isArray(few)) {
      this.#dropTo(end + 2);
      this.#tryAt = 0;
      for (const object of few) this.#fault ??= itemFault(this.#options.request, object);
      if (this.#fault === null) this.#read(few);
    } else this.#tryAt = 2 * this.#end;
  }

  /** Parses the objects before a comma, in brackets: they are written where it lies, so that it becomes one text. */
  #parseTo(comma: number): unknown {
    const bytes = this.#bytes;
    const was = bytes[comma] ?? 0;
    bytes[0] = listBegins;
    bytes[comma] = listEnds;
    const few = parseJson(this.#text(0, comma + 1));
    bytes[comma] = was;
    return few;
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to);
  }

  #append(piece: Uint8Array): void {
    const needed = this.#end + piece.length;
    if (needed > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(2 * needed);
      this.#bytes.copy(bytes, 0, 0, this.#end);
      this.#bytes = bytes;
    }
    this.#bytes.set(piece, this.#end);
    this.#end = needed;
  }

  #dropTo(at: number): void {
    this.#bytes.copyWithin(1, at, this.#end);
    this.#end -= at - 1;
  }

  #read(objects: readonly unknown[]): void {
    for (const object of objects) this.#items.push(this.#options.read(object));
  }
}

/** Null: the first object has not come so far, or does not begin as one of the API. */
function betweenObjects(text: string): Buffer | null {
  const [start] = /^\{"\w+":/.exec(text) ?? [];
  return start === undefined ? null : Buffer.from(`},${start}`);
}

function tokenOf(page: unknown): string {
  return asText(asRecord(asRecord(page).metadata).continue);
}
