// Makes the metrics of one registry: those that are counted, and those that are read when asked for.

import type { Event } from '@taintmgr/core';
import type { Machine } from '@taintmgr/k8s-adapter';
import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from 'prom-client';

/** The options that every metric is made with. */
interface Common<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: Registry[];
}

/** One number for each set of labels. */
type Series<L extends string> = Iterable<readonly [Readonly<Record<L, string>>, number]>;

/** Makes metrics of one registry. */
export class Meter {
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  counter<L extends string = never>(name: string, help: string, ...labels: L[]): Counted<L> {
    const counted = new Counted<L>(labels);
    this.totals(name, help, labels, () => counted);
    return counted;
  }

  gauge<L extends string = never>(name: string, help: string, ...labels: L[]): Gauge<L> {
    return new Gauge(this.#common(name, help, labels));
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    ...labels: L[]
  ): Tallies<L> {
    return new Tallies({ name, help, buckets, labelNames: labels, registry: this.registry });
  }

  /** A gauge whose value is read when it is asked for; true is 1. */
  reading(name: string, help: string, read: () => number | boolean): void {
    this.readings(name, help, [], () => [[{}, Number(read())]]);
  }

  /** A gauge whose series are read when it is asked for; those that are no longer there are dropped. */
  readings<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => Series<L>,
  ): void {
    new Gauge({
      ...this.#common(name, help, labels),
      collect() {
        this.reset();
        for (const [of, value] of read()) this.set(of, value);
      },
    });
  }

  /** A counter whose totals are read when it is asked for. */
  totals<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => Series<L>,
  ): void {
    new Counter({
      ...this.#common(name, help, labels),
      collect() {
        this.reset();
        for (const [of, total] of read()) this.inc(of, total);
      },
    });
  }

  #common<L extends string>(name: string, help: string, labelNames: readonly L[]): Common<L> {
    return { name, help, labelNames, registers: [this.registry] };
  }
}

type Labels<L extends string> = Readonly<Record<L, string>>;

interface CountedSeries<L extends string> {
  readonly labels: Labels<L>;
  total: number;
}

/** Series with the same values of some labels: told apart by the next one, or the one series. */
interface Branch<L extends string> {
  readonly next: Map<string, Branch<L>>;
  series: CountedSeries<L> | null;
}

/** Counts by labels. */
export class Counted<L extends string> implements Iterable<readonly [Labels<L>, number]> {
  readonly #names: readonly L[];
  readonly #root: Branch<L> = { next: new Map(), series: null };
  /** In the order in which they were counted first. */
  readonly #all: CountedSeries<L>[] = [];

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

/** The measurements for one set of labels. */
export class Tally {
  sum = 0;
  count = 0;
  /** The number of samples in each bucket that no smaller one has. */
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

interface TalliesOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
  readonly labelNames: readonly L[];
  readonly registry: Registry;
}

interface TalliedSeries<L extends string> {
  readonly labels: Labels<L>;
  readonly tally: Tally;
}

/** A histogram, by its labels. Frequent callers keep the result of `of`. */
export class Tallies<L extends string> {
  readonly #options: TalliesOptions<L>;
  readonly #series = new Map<string, TalliedSeries<L>>();

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

  readonly #valuesOf = ({ labels, tally }: TalliedSeries<L>): MetricValueWithName<L>[] => {
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

/** The metric as the registry has it. */
class Shown<L extends string> extends Histogram<L> {
  /** The constant facts of all histograms, which prom-client decides. */
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

/** Told how long the machine took for an event. */
export type Handled = (event: Event['kind'], seconds: number) => void;

/** The machine, with a stop watch beside it. */
export function timed(machine: Machine, handled: readonly Handled[]): Machine {
  return {
    nextWake: () => machine.nextWake(),
    handle: (now, event) => {
      const begun = performance.now();
      const commands = machine.handle(now, event);
      const seconds = (performance.now() - begun) / 1000;
      for (const observe of handled) observe(event.kind, seconds);
      return commands;
    },
  };
}
