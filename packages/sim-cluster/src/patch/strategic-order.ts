// The order of lists in strategic merge patches.
import { serverError } from '../objects/errors.ts';
import { equal, isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import { goText } from './go-text.ts';

const identity = (item: Json, mergeKey: string | null): Json =>
  mergeKey !== null && isObject(item) ? (item[mergeKey] ?? null) : item;

const place = (list: readonly Json[], item: Json, mergeKey: string | null): number =>
  list.findIndex((other) => equal(identity(other, mergeKey), identity(item, mergeKey)));

/**
 * Orders a merged list: the items that `wanted` names in its order, the others kept before the
 * first named item that they preceded in the original list. A new item therefore goes in front
 * of items the patch does not name.
 */
export function inOrder(
  merged: readonly Json[],
  wanted: readonly Json[],
  original: readonly Json[],
  mergeKey: string | null,
): readonly Json[] {
  const named = merged
    .filter((item) => place(wanted, item, mergeKey) >= 0)
    .sort((a, b) => place(wanted, a, mergeKey) - place(wanted, b, mergeKey));
  const others = merged.filter((item) => place(wanted, item, mergeKey) < 0);
  const result: Json[] = [];
  while (named.length > 0 && others.length > 0) {
    const [next, other] = [named[0] as Json, others[0] as Json];
    const here = place(original, next, mergeKey);
    const first = here >= 0 && place(original, other, mergeKey) < here;
    result.push(first ? other : next);
    (first ? others : named).shift();
  }
  return [...result, ...named, ...others];
}

/** 500 for an order that lacks items of the patch, or has them in another one. */
export function refuseOrder(
  given: readonly Json[],
  order: readonly Json[],
  mergeKey: string | null,
): void {
  if (mergeKey !== null) {
    for (const [at, item] of order.entries()) {
      if (!isObject(item)) throw serverError(`value for key ${at} is not a map`);
      if (item[mergeKey] === undefined) throw noMergeKey(item, mergeKey);
    }
  }
  if (given.length === 0 || order.length === 0) return;
  const items = given.filter((item) => !isObject(item) || !('$patch' in item));
  let next = 0;
  for (const wanted of order) {
    const item = items[next];
    if (item === undefined) return;
    if (equal(identity(item, mergeKey), identity(wanted, mergeKey))) next++;
  }
  if (next === items.length) return;
  throw serverError(
    `The order in patch list:\n${goText(given)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
  );
}

/** 500 for an item of a list that does not say which it is. */
export function noMergeKey(item: { readonly [name: string]: Json }, mergeKey: string): Error {
  return serverError(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}
