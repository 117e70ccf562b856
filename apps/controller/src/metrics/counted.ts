// Counters without garbage: prom-client sorts and hashes the labels of each step, and there are ten
// steps for each pod that is evicted.

type Labels<L extends string> = Readonly<Record<L, string>>;

interface Series<L extends string> {
  readonly labels: Labels<L>;
  total: number;
}

/** What has the same values of some labels: told apart by the next one, or the one series. */
interface Branch<L extends string> {
  readonly next: Map<string, Branch<L>>;
  series: Series<L> | null;
}

/** What was counted, by labels. */
export class Counted<L extends string> implements Iterable<readonly [Labels<L>, number]> {
  readonly #names: readonly L[];
  readonly #root: Branch<L> = { next: new Map(), series: null };
  /** In the order in which they were counted first. */
  readonly #all: Series<L>[] = [];

  constructor(names: readonly L[]) {
    this.#names = names;
  }

  /** Adds to the series with these labels; by 0 it is shown from now on. */
  inc(labels: Labels<L>, by = 1): void {
    let branch = this.#root;
    for (const name of this.#names) {
      branch = branch.next.get(labels[name]) ?? grown(branch, labels[name]);
    }
    if (branch.series) branch.series.total += by;
    else {
      branch.series = { labels: { ...labels }, total: by };
      this.#all.push(branch.series);
    }
  }

  *[Symbol.iterator](): Generator<readonly [Labels<L>, number]> {
    for (const { labels, total } of this.#all) yield [labels, total];
  }
}

function grown<L extends string>(branch: Branch<L>, value: string): Branch<L> {
  const next: Branch<L> = { next: new Map(), series: null };
  branch.next.set(value, next);
  return next;
}
