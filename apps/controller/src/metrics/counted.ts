// Counters without garbage: prom-client sorts and hashes the labels of each step, and there are ten
// steps for each pod that is evicted.

type Labels<L extends string> = Readonly<Record<L, string>>;

interface Series<L extends string> {
  readonly labels: Labels<L>;
  total: number;
}

/** What was counted, by labels. */
export class Counted<L extends string> implements Iterable<readonly [Labels<L>, number]> {
  readonly #names: readonly L[];
  readonly #series = new Map<string, Series<L>>();

  constructor(names: readonly L[]) {
    this.#names = names;
  }

  /** Adds to the series with these labels; by 0 it is shown from now on. */
  inc(labels: Labels<L>, by = 1): void {
    const key = this.#keyOf(labels);
    const known = this.#series.get(key);
    if (known) known.total += by;
    else this.#series.set(key, { labels: { ...labels }, total: by });
  }

  *[Symbol.iterator](): Generator<readonly [Labels<L>, number]> {
    for (const { labels, total } of this.#series.values()) yield [labels, total];
  }

  /** With the length of each value, so that none reads as the end of one and the beginning of the next. */
  #keyOf(labels: Labels<L>): string {
    let key = '';
    for (const name of this.#names) key += `${labels[name].length} ${labels[name]}`;
    return key;
  }
}
