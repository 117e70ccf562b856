// Histograms that are counted without garbage: prom-client makes several objects for each sample, and
// there are ten samples for each pod that is evicted.
import {
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from 'prom-client';

/** What was measured for one set of labels. */
export class Tally {
  sum = 0;
  count = 0;
  /** How many samples each bucket has that no smaller one has. */
  readonly counts: Float64Array;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
    this.count += 1;
  }
}

export interface TalliesOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
  readonly labelNames: readonly L[];
  readonly registry: Registry;
}

type Labels<L extends string> = Readonly<Record<L, string>>;

interface Series<L extends string> {
  readonly labels: Labels<L>;
  readonly tally: Tally;
}

/** A histogram, by its labels. Whoever measures often keeps what `of` answers. */
export class Tallies<L extends string> {
  readonly #options: TalliesOptions<L>;
  readonly #series = new Map<string, Series<L>>();

  constructor(options: TalliesOptions<L>) {
    this.#options = options;
    const shown = new Shown(options, () => [...this.#series.values()].flatMap(this.#valuesOf));
    options.registry.registerMetric(shown);
  }

  /** Where samples with these labels go; from now on it is shown, with no samples yet. */
  of(labels: Labels<L>): Tally {
    const { buckets, labelNames } = this.#options;
    const key = labelNames.map((name) => labels[name]).join('\n');
    const known = this.#series.get(key);
    if (known) return known.tally;
    const tally = new Tally(buckets);
    this.#series.set(key, { labels: { ...labels }, tally });
    return tally;
  }

  readonly #valuesOf = ({ labels, tally }: Series<L>): MetricValueWithName<L>[] => {
    const { name, buckets } = this.#options;
    let below = 0;
    const values = [...buckets, '+Inf'].map((le, at) => {
      below += tally.counts[at] ?? 0;
      return { labels: { le, ...labels }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...values,
      { labels, value: tally.sum, metricName: `${name}_sum` },
      { labels, value: tally.count, metricName: `${name}_count` },
    ];
  };
}

type Values<L extends string> = MetricObjectWithValues<MetricValueWithName<L>>;

/** What the registry has of it. */
class Shown<L extends string> extends Histogram<L> {
  /** What is the same for all histograms is prom-client's to say. */
  readonly #empty: Histogram<L>;
  readonly #values: () => MetricValueWithName<L>[];

  constructor(options: TalliesOptions<L>, values: () => MetricValueWithName<L>[]) {
    const { name, help, buckets, labelNames } = options;
    const common = { name, help, buckets: [...buckets], labelNames: [...labelNames] };
    super({ ...common, registers: [] });
    this.#empty = new Histogram({ ...common, registers: [] });
    this.#values = values;
  }

  override async get(): Promise<Values<L>> {
    return { ...(await this.#empty.get()), values: this.#values() };
  }

  /** prom-client asks this one for its text. */
  getForPromString(): Promise<Values<L>> {
    return this.get();
  }
}
