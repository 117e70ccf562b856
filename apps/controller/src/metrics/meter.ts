// Makes the metrics of one registry: those that are counted, and those that are read when asked for.
import { Counter, Gauge, type Registry } from 'prom-client';
import { Counted } from './counted.ts';
import { Tallies } from './tallies.ts';

/** What every metric is made with. */
interface Common<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: Registry[];
}

/** One number for each set of labels. */
export type Series<L extends string> = Iterable<readonly [Readonly<Record<L, string>>, number]>;

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
