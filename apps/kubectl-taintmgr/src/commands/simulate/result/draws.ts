// The figures of a simulation that was played several times, each time with another seed.
import type { Named, Summary } from '@taintmgr/page';

/** Of all draws nine in ten lie within; of fewer than twenty all do. */
const tail = 0.05;

/** The least and the most of nine in ten draws. */
export interface Band {
  readonly least: number;
  readonly most: number;
}

export function bandOf(values: readonly number[]): Band {
  const sorted = values.toSorted((one, other) => one - other);
  const outside = Math.floor(sorted.length * tail);
  return { least: sorted[outside] ?? 0, most: sorted[sorted.length - 1 - outside] ?? 0 };
}

/** The median is one of the values, so that whole numbers stay whole. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[(sorted.length - 1) >> 1] ?? 0;
}

/**
 * The difference between two variants that were played with the same seeds, from the differences of each
 * pair: the median, or 0 where chance alone makes as much.
 */
export function beyondChance(differences: readonly number[]): number {
  const { least, most } = bandOf(differences);
  return least <= 0 && most >= 0 ? 0 : medianOf(differences);
}

/** The summary of all draws of a variant: medians; loops and causes are those of the first. */
export function typicalSummary(draws: readonly Summary[]): Summary | undefined {
  const [first] = draws;
  if (!first || draws.length === 1) return first;
  return {
    ...typical(draws, first),
    unplaced: typical(
      draws.map(({ unplaced }) => unplaced),
      first.unplaced,
    ),
    totals: typical(
      draws.map(({ totals }) => totals),
      first.totals,
    ),
    namespaces: eachTypical(draws, ({ namespaces }) => namespaces),
    zones: eachTypical(draws, ({ zones }) => zones),
    workloads: eachTypical(draws, ({ workloads }) => workloads).map((workload) => {
      const gaps = draws.map(({ workloads }) => sameAs(workload, workloads)?.longestGap ?? null);
      const median = medianOf(gaps.map((gap) => gap?.seconds ?? 0));
      return { ...workload, longestGap: gaps.find((gap) => gap?.seconds === median) ?? null };
    }),
    budgets: eachTypical(draws, ({ budgets }) => budgets),
    jobs: eachTypical(draws, ({ jobs }) => jobs),
  };
}

/** With the median in place of each number. */
function typical<Item extends object>(items: readonly Item[], first: Item): Item {
  const fields = Object.entries(first).map(([field, value]) => {
    if (typeof value !== 'number') return [field, value] as const;
    return [field, medianOf(items.map((item) => Number(item[field as keyof Item])))] as const;
  });
  return Object.fromEntries(fields) as Item;
}

function eachTypical<Item extends OfKind>(
  draws: readonly Summary[],
  itemsOf: (summary: Summary) => readonly Item[],
): readonly Item[] {
  const [first, ...others] = draws.map(itemsOf);
  if (!first) return [];
  const found = others.map((items) => new Map(paired(first, items)));
  return first.map((item) => {
    return typical([item, ...found.flatMap((byFirst) => byFirst.get(item) ?? [])], item);
  });
}

/** An item that is known by its name, in a namespace if there is one. */
export type OfKind = Pick<Named, 'name'> & { readonly kind?: string; readonly namespace?: string };

/** The items that both lists contain, by their names. */
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

/** The one of that name. */
export function sameAs<Item extends OfKind>(
  one: OfKind,
  others: readonly Item[],
): Item | undefined {
  return others.find((other) => keyOf(other) === keyOf(one));
}

export function keyOf({ kind = '', namespace = '', name }: OfKind): string {
  return `${kind} ${namespace}/${name}`;
}
