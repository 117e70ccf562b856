import { formatDuration, parseDuration } from '@taintmgr/core/time';
import { UsageError } from '../../../usage-error.ts';
import type { Recording } from '../record/recorder.ts';
import { mostAtOnce, type Summary } from './summary.ts';

/** Limits for CI, as `unavailable(shop/web) > 30%` says them. */
export interface FailIf {
  readonly text: string;
  readonly metric: MetricName;
  /** `shop/web`, with `*` for any name. */
  readonly subject: string;
  readonly operator: '>' | '>=';
  readonly value: number;
  readonly unit: Unit;
}

/** How a limit was kept. */
export interface FailIfOutcome {
  readonly limit: string;
  /** The worst of what it is about, in its unit. */
  readonly value: number;
  readonly worst: string;
  readonly exceeded: boolean;
}

type Unit = 'number' | 'percent' | 'seconds';

interface Measured {
  readonly name: string;
  readonly value: number;
}

interface Metric {
  readonly units: readonly Unit[];
  readonly what: string;
  readonly measure: (summary: Summary, recording: Recording, unit: Unit) => readonly Measured[];
}

/** How much of something each has, by `namespace/name`. */
function measured<Item extends { readonly namespace: string; readonly name: string }>(
  items: readonly Item[],
  amountOf: (item: Item) => number,
): readonly Measured[] {
  return items.map((item) => ({ name: `${item.namespace}/${item.name}`, value: amountOf(item) }));
}

const metrics = {
  unavailable: {
    units: ['number', 'percent'],
    what: 'workload',
    measure: ({ workloads }, _, unit) =>
      measured(workloads, ({ unavailableMax, unavailablePercentMax }) =>
        unit === 'percent' ? unavailablePercentMax : unavailableMax,
      ),
  },
  evictions: {
    units: ['number'],
    what: 'workload',
    measure: ({ workloads }) => measured(workloads, ({ evictions }) => evictions),
  },
  unplaced: {
    units: ['number'],
    what: 'workload',
    measure: ({ workloads }, { unplaced }) =>
      measured(workloads, ({ kind, namespace, name }) => {
        const id = `${kind} ${namespace}/${name}`;
        return mostAtOnce(unplaced.filter(({ workload }) => workload === id));
      }),
  },
  refusals: {
    units: ['number'],
    what: 'budget',
    measure: ({ budgets }) => measured(budgets, ({ refusals }) => refusals),
  },
  below: {
    units: ['number', 'seconds'],
    what: 'budget',
    measure: ({ budgets }, _, unit) =>
      measured(budgets, ({ belowMax, belowSeconds }) =>
        unit === 'seconds' ? belowSeconds : belowMax,
      ),
  },
} as const satisfies Readonly<Record<string, Metric>>;

type MetricName = keyof typeof metrics;

/** What a limit can be about. */
const metricNames = Object.keys(metrics) as readonly MetricName[];

const pattern = /^\s*(\w+)\s*\(\s*([^()\s]+)\s*\)\s*(>=|>)\s*(\S+)\s*$/;

/** Reads a limit. Throws UsageError. */
export function parseFailIf(text: string): FailIf {
  const [, name, subject = '', operator, amount = ''] = pattern.exec(text) ?? [];
  const metric = metricNames.find((one) => one === name);
  const wrong = (want: string): UsageError =>
    new UsageError(`--fail-if: got ${JSON.stringify(text)}, want ${want}`);
  if (name === undefined)
    throw wrong("METRIC(NAMESPACE/NAME) > VALUE, e.g. 'unavailable(shop/web) > 30%'");
  if (!metric) throw wrong(`one of ${metricNames.join(', ')}`);
  if (!/^[^/]+\/[^/]+$/.test(subject)) throw wrong(`${metric}(NAMESPACE/NAME), * for any name`);
  const { units }: Metric = metrics[metric];
  const quantity = quantityOf(amount);
  if (!quantity || !units.includes(quantity.unit))
    throw wrong(`${units.map(unitText).join(' or ')} to compare with`);
  return {
    text: text.trim(),
    metric,
    subject,
    operator: operator === '>=' ? '>=' : '>',
    ...quantity,
  };
}

function unitText(unit: Unit): string {
  return { number: 'a number', percent: 'a share such as 30%', seconds: 'a time such as 90s' }[
    unit
  ];
}

function quantityOf(text: string): { readonly value: number; readonly unit: Unit } | null {
  if (/^\d+(\.\d+)?$/.test(text)) return { value: Number(text), unit: 'number' };
  if (/^\d+(\.\d+)?%$/.test(text)) return { value: Number(text.slice(0, -1)), unit: 'percent' };
  const millis = parseDuration(text);
  return millis === null ? null : { value: millis / 1000, unit: 'seconds' };
}

/** Holds a limit against what happened. Throws UsageError where it is about nothing there. */
export function judgeFailIf(limit: FailIf, summary: Summary, recording: Recording): FailIfOutcome {
  const { text, metric, subject, operator, value: allowed, unit } = limit;
  const { what, measure }: Metric = metrics[metric];
  const all = measure(summary, recording, unit);
  const [first, ...others] = all.filter(({ name }) => matches(subject, name));
  if (!first) {
    const names = all.map(({ name }) => name).join(', ') || 'none';
    throw new UsageError(
      `--fail-if ${JSON.stringify(text)}: no ${what} ${subject}; there are ${names}`,
    );
  }
  const worst = others.reduce((one, other) => (other.value > one.value ? other : one), first);
  const exceeded = operator === '>' ? worst.value > allowed : worst.value >= allowed;
  return { limit: text, value: worst.value, worst: worst.name, exceeded };
}

function matches(subject: string, name: string): boolean {
  const [wanted, found] = [subject.split('/'), name.split('/')];
  return wanted.every((part, index) => part === '*' || part === found[index]);
}

/** `10`, `33.3%`, `1m30s` */
export function valueText({ unit }: FailIf, value: number): string {
  if (unit === 'seconds') return formatDuration(value * 1000);
  return unit === 'percent' ? `${value}%` : String(value);
}
