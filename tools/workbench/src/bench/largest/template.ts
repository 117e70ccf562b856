// Bytes of an API object with places that are filled in: how a feeder makes a million objects
// without holding any. A place is a mark of fixed width that stands in the object wherever its value
// does, in JSON and in protobuf alike.

/** What is filled in, by the mark that stands for it; a value is as wide as its mark. */
export type Values = Readonly<Record<string, string>>;

interface Place {
  readonly mark: string;
  readonly at: number;
}

/** An object, as bytes, with places. */
export class Template {
  readonly #bytes: Buffer;
  readonly #places: readonly Place[];

  /** Throws where a mark does not stand in the bytes. */
  constructor(bytes: Uint8Array, marks: readonly string[]) {
    this.#bytes = Buffer.from(bytes);
    this.#places = marks.flatMap((mark) => this.#placesOf(mark));
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** The object with these values, ready to be sent. */
  fill(values: Values): Buffer {
    const filled = Buffer.from(this.#bytes);
    for (const { mark, at } of this.#places) filled.write(values[mark] ?? mark, at, 'latin1');
    return filled;
  }

  #placesOf(mark: string): readonly Place[] {
    const places: Place[] = [];
    for (let at = this.#bytes.indexOf(mark); at >= 0; at = this.#bytes.indexOf(mark, at + 1)) {
      places.push({ mark, at });
    }
    if (places.length === 0) throw new Error(`no place for ${mark}`);
    return places;
  }
}
