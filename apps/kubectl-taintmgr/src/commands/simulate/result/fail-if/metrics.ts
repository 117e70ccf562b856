// What --fail-if can be about, and what it measures in a run.
import type { Recording } from '../../record/recorder.ts';
import { mostAtOnce, type Summary } from '../summary.ts';
import type { AmountName, Unit } from './quantities.ts';

/** How much of something somebody had, in each unit in which it may be read. */
export interface Measured {
  /** `shop/web` */
  readonly name: string;
  readonly amounts: Readonly<Partial<Record<Unit, number>>>;
}

/** One thing that can be measured of each workload or budget. */
interface Metric {
  readonly type: AmountName;
  readonly what: 'workload' | 'budget';
  readonly measure: (summary: Summary, recording: Recording) => readonly Measured[];
}

type Named = { readonly namespace: string; readonly name: string };
type Amounts = Measured['amounts'];
type WorkloadSummary = Summary['workloads'][number];
type BudgetSummary = Summary['budgets'][number];

function each<Item extends Named>(
  items: readonly Item[],
  amountsOf: (item: Item) => Amounts,
): readonly Measured[] {
  return items.map((item) => {
    return { name: `${item.namespace}/${item.name}`, amounts: amountsOf(item) };
  });
}

function ofWorkloads(type: AmountName, amountsOf: (workload: WorkloadSummary) => Amounts): Metric {
  return { type, what: 'workload', measure: ({ workloads }) => each(workloads, amountsOf) };
}

function ofBudgets(type: AmountName, amountsOf: (budget: BudgetSummary) => Amounts): Metric {
  return { type, what: 'budget', measure: ({ budgets }) => each(budgets, amountsOf) };
}

/** By their names. */
export const metrics: Readonly<Record<string, Metric>> = {
  down: ofWorkloads('Pods', ({ downMax, downPercentMax }) => {
    return { number: downMax, percent: downPercentMax };
  }),
  downtime: ofWorkloads('Time', ({ downSeconds }) => ({ seconds: downSeconds })),
  gap: ofWorkloads('Time', ({ longestGap }) => ({ seconds: longestGap?.seconds ?? 0 })),
  outage: ofWorkloads('Time', ({ outageSeconds }) => ({ seconds: outageSeconds })),
  lost: ofWorkloads('Count', ({ podMinutesLost }) => ({ number: podMinutesLost })),
  unavailable: ofWorkloads('Pods', ({ unavailableMax, unavailablePercentMax }) => {
    return { number: unavailableMax, percent: unavailablePercentMax };
  }),
  evictions: ofWorkloads('Count', ({ evictions }) => ({ number: evictions })),
  unplaced: {
    type: 'Count',
    what: 'workload',
    measure: ({ workloads }, { unplaced }) =>
      each(workloads, ({ kind, namespace, name }) => {
        const id = `${kind} ${namespace}/${name}`;
        return { number: mostAtOnce(unplaced.filter(({ workload }) => workload === id)) };
      }),
  },
  refusals: ofBudgets('Count', ({ refusals }) => ({ number: refusals })),
  below: ofBudgets('Shortfall', ({ belowMax, belowSeconds }) => {
    return { number: belowMax, seconds: belowSeconds };
  }),
};

/** In the order in which help and errors list them. */
export const metricNames: readonly string[] = Object.keys(metrics);
