// Many requests, a few at a time.

/** So many requests are made at one time. */
export const requestsAtOnceMax = 8;

/** Awaits a few at a time; what came of each, in order. */
export async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += requestsAtOnceMax) {
    results.push(...(await Promise.all(items.slice(from, from + requestsAtOnceMax).map(work))));
  }
  return results;
}
