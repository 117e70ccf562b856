import { isList } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { List } from '../schema/types.ts';
import { elementOf } from './field-set.ts';

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
  const have = new Map((isList(live) ? live : []).map((item) => [elementOf(list, item), item]));
  const want = new Map(wanted.map((item) => [elementOf(list, item), item]));
  const [mine, theirs] = [[...have.keys()], [...want.keys()]];
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
      result.push(have.get(left) as Json);
      at++;
    } else if (left !== undefined && (taken.has(left) || (right !== undefined && isLater(left)))) {
      at++;
    } else if (right !== undefined) {
      take(right);
      next++;
    } else at++;
  }
  return result;

  /** An item that both have, whose turn in the order of the configuration comes later. */
  function isLater(element: string): boolean {
    return shared[0] !== undefined && shared[0] !== element;
  }
}
