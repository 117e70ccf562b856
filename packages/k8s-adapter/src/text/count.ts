/** Numbers of things in words: `1 pod`, `2 pods`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** The number of names that fit a line. */
const namesMax = 3;

/** Names, cut with a count: `a, b, c and 7 more`. */
export function listText(names: readonly string[], between = ', '): string {
  return cut(names, namesMax, between);
}

/** The number of names that `choicesText` prints. */
export const choicesMax = 12;

/** Joins names, cut at `choicesMax` with a count; `none` without a name. */
export function choicesText(names: readonly string[]): string {
  return cut(names, choicesMax, ', ') || 'none';
}

function cut(names: readonly string[], most: number, between: string): string {
  const more = names.length - most;
  return more <= 0 ? names.join(between) : `${names.slice(0, most).join(', ')} and ${more} more`;
}

/**
 * Returns the least of any number of values; Infinity without one. (`Math.min(...values)` fails
 * beyond some 100,000 arguments.)
 */
export function leastOf(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

/** Returns the most of any number of values, and at least `floor`. */
export function mostOf(values: readonly number[], floor: number): number {
  return values.reduce((most, value) => Math.max(most, value), floor);
}

/** Counts each name, in the order of their first occurrence. */
export function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The values by their keys, in the order of the first of each. */
export function groupBy<T, K>(
  values: readonly T[],
  keyOf: (value: T) => K,
): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
