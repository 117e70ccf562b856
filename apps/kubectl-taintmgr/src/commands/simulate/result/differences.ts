// The differences of another run from the first, for each workload and budget.
import type { BudgetSummary, Differences, Summary, Totals, WorkloadSummary } from '@taintmgr/page';
import { thousandths } from './downtime.ts';
import { beyondChance, paired, sameAs } from './draws.ts';

/** The figures of a workload that are compared; each is that of the other run less that of the first. */
const ofWorkload = [
  'downMax',
  'downPercentMax',
  'downSeconds',
  'outageSeconds',
  'podMinutesLost',
  'unavailableMax',
  'unavailableSeconds',
  'evictions',
] as const satisfies readonly (keyof WorkloadSummary)[];

const ofBudget = [
  'refusals',
  'belowSeconds',
  'belowMax',
] as const satisfies readonly (keyof BudgetSummary)[];

const ofTotals = [
  'workloads',
  'downMax',
  'podMinutesLost',
  'evictions',
  'unplaced',
] as const satisfies readonly (keyof Totals)[];

/**
 * The differences of another run's draws from those of the first, which were played with the same seeds: 0
 * where chance alone explains the difference.
 */
export function differencesOf(
  first: readonly Summary[],
  other: readonly Summary[],
): Differences | null {
  const each = first.flatMap((one, draw) => {
    const two = other[draw];
    return two ? [differenceIn(one, two)] : [];
  });
  const [shape] = each;
  if (!shape || each.length === 1) return shape ?? null;
  const settled = <Item extends object>(
    item: Item,
    same: (draw: Differences) => Item | undefined,
  ) =>
    Object.fromEntries(
      Object.entries(item).map(([field, value]) => {
        if (typeof value !== 'number') return [field, value];
        const values = each.map((draw) => Number(same(draw)?.[field as keyof Item] ?? 0));
        return [field, beyondChance(values)];
      }),
    ) as Item;
  return {
    ...settled(shape, (draw) => draw),
    totals: settled(shape.totals, ({ totals }) => totals),
    workloads: shape.workloads.map((item) =>
      settled(item, ({ workloads }) => sameAs(item, workloads)),
    ),
    budgets: shape.budgets.map((item) => settled(item, ({ budgets }) => sameAs(item, budgets))),
  };
}

function differenceIn(first: Summary, other: Summary): Differences {
  return {
    totals: less(first.totals, other.totals, ofTotals),
    evictions: other.evictions - first.evictions,
    refusals: other.refusals - first.refusals,
    nodesTainted: other.nodesTainted - first.nodesTainted,
    workloads: paired(first.workloads, other.workloads).map(([one, two]) => {
      const { kind, namespace, name } = one;
      const gaps = [one, two].map(({ longestGap }) => longestGap?.seconds ?? 0);
      const longestGapSeconds = thousandths((gaps[1] ?? 0) - (gaps[0] ?? 0));
      return { kind, namespace, name, ...less(one, two, ofWorkload), longestGapSeconds };
    }),
    budgets: paired(first.budgets, other.budgets).map(([one, two]) => {
      const { namespace, name } = one;
      return { namespace, name, ...less(one, two, ofBudget) };
    }),
  };
}

function less<Field extends string>(
  one: { readonly [Name in Field]: number },
  two: { readonly [Name in Field]: number },
  fields: readonly Field[],
): { readonly [Name in Field]: number } {
  const entries = fields.map((field) => [field, thousandths(two[field] - one[field])] as const);
  return Object.fromEntries(entries) as { readonly [Name in Field]: number };
}
