// Strategic merge patch.
import { serverError } from '../objects/errors.ts';
import { entry, equal, isList, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { List, Shape } from '../schema/types.ts';
import { memberShape } from './field-set.ts';

const orderPrefix = '$setElementOrder/';
const deleteFromPrefix = '$deleteFromPrimitiveList/';

/**
 * Strategic merge patch: like a merge patch, but lists that have a merge key in the schema are
 * merged item by item, and the directives `$patch`, `$retainKeys`, `$setElementOrder/x` and
 * `$deleteFromPrimitiveList/x` are obeyed. A list without a merge key is replaced whole.
 */
export function applyStrategicPatch(shape: Shape | undefined, document: Json, patch: Json): Json {
  return isObject(patch) ? mergeMap(shape, isObject(document) ? document : {}, patch) : patch;
}

type Members = { readonly [key: string]: Json };

function mergeMap(shape: Shape | undefined, original: Members, patch: Members): Json {
  if (patch.$patch === 'replace') return withoutDirectives(patch);
  if (patch.$patch === 'delete') return {};
  if (patch.$patch !== undefined && patch.$patch !== 'merge') throw unknownDirective(patch);
  const result: JsonObject = { ...original };
  if (isList(patch.$retainKeys)) {
    const kept = new Set<Json>(patch.$retainKeys);
    for (const key of Object.keys(result)) if (!kept.has(key)) delete result[key];
  }
  for (const [key, value] of Object.entries(patch)) {
    if (isDirective(key)) continue;
    if (value === null) delete result[key];
    else setOwn(result, key, mergeMember(memberShape(shape, key), entry(result, key), value));
  }
  applyListDirectives(shape, original, result, patch);
  return result;
}

function unknownDirective(patch: Members): Error {
  return serverError(
    `unknown patch type: ${String(patch.$patch)} in map: ${JSON.stringify(patch)}`,
  );
}

function isDirective(key: string): boolean {
  return (
    key === '$patch' ||
    key === '$retainKeys' ||
    key.startsWith(orderPrefix) ||
    key.startsWith(deleteFromPrefix)
  );
}

function withoutDirectives(patch: Members): Json {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !isDirective(key)));
}

function mergeMember(shape: Shape | undefined, original: Json | undefined, patch: Json): Json {
  if (isObject(patch)) {
    const replaced = typeof shape === 'object' && shape.type === 'struct' && shape.isReplaced;
    return mergeMap(shape, isObject(original) && !replaced ? original : {}, patch);
  }
  if (!isList(patch) || typeof shape !== 'object' || shape.type !== 'list') return patch;
  const present = isList(original) ? original : [];
  if (shape.set && !shape.isReplaced) {
    return inOrder(union(present, patch), patch, present, null);
  }
  return shape.mergeKey === undefined ? patch : mergeList(shape, shape.mergeKey, present, patch);
}

function union(present: readonly Json[], added: readonly Json[]): readonly Json[] {
  return [...present, ...added.filter((value) => !present.some((have) => equal(have, value)))];
}

function mergeList(
  shape: List,
  mergeKey: string,
  original: readonly Json[],
  patch: readonly Json[],
): readonly Json[] {
  const merged: Json[] = [...original];
  for (const item of patch) {
    if (!isObject(item)) throw serverError(`expected an object with the merge key ${mergeKey}`);
    if (item.$patch === 'replace') {
      return patch.filter((other) => other !== item);
    }
    if (item[mergeKey] === undefined) {
      throw serverError(
        `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`,
      );
    }
    const at = merged.findIndex((have) => isObject(have) && have[mergeKey] === item[mergeKey]);
    if (item.$patch === 'delete') {
      if (at >= 0) merged.splice(at, 1);
    } else if (at < 0) merged.push(mergeMember(shape.items, undefined, item));
    else merged[at] = mergeMember(shape.items, merged[at], item);
  }
  return inOrder(merged, patch, original, mergeKey);
}

const identity = (item: Json, mergeKey: string | null): Json =>
  mergeKey !== null && isObject(item) ? (item[mergeKey] ?? null) : item;

const place = (list: readonly Json[], item: Json, mergeKey: string | null): number =>
  list.findIndex((other) => equal(identity(other, mergeKey), identity(item, mergeKey)));

/**
 * Orders a merged list: the items that `wanted` names in its order, the others kept before the
 * first named item that they preceded in the original list. A new item therefore goes in front
 * of items the patch does not name.
 */
function inOrder(
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

function applyListDirectives(
  shape: Shape | undefined,
  original: Members,
  result: JsonObject,
  patch: Members,
): void {
  for (const [key, value] of Object.entries(patch)) {
    if (!isList(value)) continue;
    if (key.startsWith(deleteFromPrefix)) {
      const member = key.slice(deleteFromPrefix.length);
      const present = result[member];
      if (isList(present)) {
        result[member] = present.filter((item) => !value.some((gone) => equal(gone, item)));
      }
    }
    if (key.startsWith(orderPrefix)) {
      const member = key.slice(orderPrefix.length);
      const list = memberShape(shape, member);
      const present = result[member];
      if (!isList(present) || typeof list !== 'object' || list.type !== 'list') continue;
      if (list.mergeKey === undefined && (!list.set || list.isReplaced)) continue;
      const before = original[member];
      const order = isList(before) ? before : [];
      result[member] = inOrder(present, value, order, list.mergeKey ?? null);
    }
  }
}
