// What another run has more or less than the first of it, for each workload and budget.
import type { BudgetSummary, Differences, Named, Summary, WorkloadSummary } from '@taintmgr/page';
import { thousandths } from './downtime.ts';

/** What is compared of a workload; each is that of the other run less that of the first. */
const ofWorkload = [
  'downMax',
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

/** What `other` has more than `first`. */
export function differencesOf(first: Summary, other: Summary): Differences {
  return {
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

type OfKind = Named & { readonly kind?: string };

/** Those that are in both, by their names. */
export function paired<Item extends OfKind>(
  first: readonly Item[],
  others: readonly Item[],
): readonly (readonly [Item, Item])[] {
  const byKey = new Map(others.map((other) => [keyOf(other), other] as const));
  return first.flatMap((one) => {
    const other = byKey.get(keyOf(one));
    return other ? [[one, other] as const] : [];
  });
}

function keyOf({ kind = '', namespace, name }: OfKind): string {
  return `${kind} ${namespace}/${name}`;
}

function less<Field extends string>(
  one: { readonly [Name in Field]: number },
  two: { readonly [Name in Field]: number },
  fields: readonly Field[],
): { readonly [Name in Field]: number } {
  const entries = fields.map((field) => [field, thousandths(two[field] - one[field])] as const);
  return Object.fromEntries(entries) as { readonly [Name in Field]: number };
}
