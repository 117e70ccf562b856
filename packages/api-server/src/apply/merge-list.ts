import type { Json, List } from '@taintmgr/sim-cluster/server';
import { elementOf, isList } from '@taintmgr/sim-cluster/server';

/**
 * A list that is merged item by item by server-side apply, in the order of the real server: what
 * both have comes in the order of the configuration, what only one has keeps its neighbours.
 */
export function mergeItems(
  list: List,
  live: Json | undefined,
  wanted: readonly Json[],
  mergeItem: (have: Json | undefined, want: Json) => Json,
): readonly Json[] {
  const items = isList(live) ? live : [];
  const mine = items.map((item) => elementOf(list, item));
  // Of items with one key nobody knows which one is meant: they stay as they are, or all give way.
  const have = new Map<string, Json | undefined>();
  for (const [index, element] of mine.entries()) {
    have.set(element, have.has(element) ? undefined : items[index]);
  }
  const want = new Map(wanted.map((item) => [elementOf(list, item), item]));
  const theirs = [...want.keys()];
  const shared = theirs.filter((element) => have.has(element));
  const result: Json[] = [];
  const taken = new Set<string>();
  const take = (element: string): void => {
    taken.add(element);
    if (shared[0] === element) shared.shift();
    result.push(mergeItem(have.get(element), want.get(element) as Json));
  };
  let [at, next] = [0, 0];
  while (at < mine.length || next < theirs.length) {
    const [left, right] = [mine[at], theirs[next]];
    if (left !== undefined && left === right) {
      take(left);
      at++;
      next++;
    } else if (left !== undefined && !want.has(left)) {
      result.push(items[at] as Json);
      at++;
    } else if (left !== undefined && right !== undefined && isLater(left)) {
      at++;
    } else {
      // One more of a key that is taken gives way to what comes next.
      if (left !== undefined && taken.has(left)) at++;
      if (right === undefined) continue;
      take(right);
      next++;
    }
  }
  return result;

  /** An item that both have, whose turn in the order of the configuration comes later. */
  function isLater(element: string): boolean {
    return shared[0] !== undefined && shared[0] !== element;
  }
}
