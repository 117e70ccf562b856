// The indexes of an Indexed Job: those of its pods, and lists of them as its status has them.
import type { KubeObject } from '../objects/kube-object.ts';

/** Names the index of a pod, in its annotations and labels. */
export const indexKey = 'batch.kubernetes.io/job-completion-index';

/** Indexes from the first to the last, both included. */
type Span = readonly [first: number, last: number];

/** Spans in order that neither touch nor overlap. */
export type Indexes = readonly Span[];

/** The index of a pod; null: it has none that the Job could use. */
export function indexOf({ spec }: KubeObject, { metadata }: KubeObject): number | null {
  const index = wholeNumber(metadata.annotations?.[indexKey]);
  return index !== null && index < (spec.completions ?? 0) ? index : null;
}

/** The whole number from 0 that the text is, or null. */
export function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

/** Reads e.g. `0,2-4`; invalid parts are left out, and indexes that are not below `completions`. */
export function parseIndexes(text: string | undefined, completions: number): Indexes {
  const spans = (text ?? '').split(',').flatMap((part): readonly Span[] => {
    const [first = null, last = first] = part.split('-').map((limit) => wholeNumber(limit));
    if (first === null || last === null || first >= completions || last < first) return [];
    return [[first, Math.min(last, completions - 1)]];
  });
  return union(spans);
}

/** The text of a status: two neighbours are listed by name, more of them as a range. */
export function formatIndexes(indexes: Indexes): string {
  return indexes
    .map(
      ([first, last]) =>
        `${first}${last === first ? '' : last === first + 1 ? `,${last}` : `-${last}`}`,
    )
    .join(',');
}

/** The spans with the single indexes, in order. */
export function union(spans: Indexes, singles: Iterable<number> = []): Indexes {
  const all = [...spans, ...Array.from(singles, (index): Span => [index, index])];
  const joined: Span[] = [];
  for (const [first, last] of all.sort(([one], [other]) => one - other)) {
    const before = joined.at(-1);
    if (before && first <= before[1] + 1)
      joined.splice(-1, 1, [before[0], Math.max(before[1], last)]);
    else joined.push([first, last]);
  }
  return joined;
}

/** The number of indexes. */
export function countIndexes(indexes: Indexes): number {
  return indexes.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** True if the index is one of these. */
export function hasIndex(indexes: Indexes, index: number): boolean {
  return indexes.some(([first, last]) => first <= index && index <= last);
}

/** The first indexes that are none of these, at most `count` of them and below `completions`. */
export function firstMissing(
  indexes: Indexes,
  count: number,
  completions: number,
): readonly number[] {
  const missing: number[] = [];
  let candidate = 0;
  for (const [first, last] of [...indexes, [completions, completions] as const]) {
    for (; candidate < first && missing.length < count; candidate++) missing.push(candidate);
    candidate = last + 1;
  }
  return missing;
}

/** The first rule of the Job's successPolicy that these indexes meet, in words; null: none. */
export function metSuccessRule({ spec }: KubeObject, succeeded: Indexes): string | null {
  interface Rule {
    readonly succeededIndexes?: string;
    readonly succeededCount?: number;
  }
  const rules: readonly Rule[] = spec.successPolicy?.rules ?? [];
  const met = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    const asked =
      succeededIndexes === undefined
        ? ([[0, spec.completions - 1]] as const)
        : parseIndexes(succeededIndexes, spec.completions);
    return (
      asked.length > 0 && countShared(asked, succeeded) >= (succeededCount ?? countIndexes(asked))
    );
  });
  return met < 0 ? null : `Matched rules at index ${met}`;
}

function countShared(some: Indexes, others: Indexes): number {
  let count = 0;
  for (const [first, last] of some) {
    for (const [start, end] of others) {
      count += Math.max(0, Math.min(last, end) - Math.max(first, start) + 1);
    }
  }
  return count;
}
