// Strategic merge patch.
import { badRequest, serverError } from '../objects/errors.ts';
import { entry, equal, isList, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { List, Shape } from '../schema/types.ts';
import { memberShape } from './field-set.ts';
import { goText } from './go-text.ts';

// The order of lists in strategic merge patches.

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

/** 500 for an order that lacks items of the patch, or has them in another one. */
function refuseOrder(
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
function noMergeKey(item: { readonly [name: string]: Json }, mergeKey: string): Error {
  return serverError(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

const orderPrefix = '$setElementOrder';
const deleteFromPrefix = '$deleteFromPrimitiveList';

type Members = { readonly [key: string]: Json };

/**
 * Strategic merge patch: like a merge patch, but lists that have a merge key in the schema are
 * merged item by item, and the directives `$patch`, `$retainKeys`, `$setElementOrder/x` and
 * `$deleteFromPrimitiveList/x` are obeyed. A list without a merge key is replaced whole. New values
 * are taken unchanged. Directives work in the places where kube-apiserver looks for them.
 */
export function applyStrategicPatch(shape: Shape | undefined, document: Json, patch: Json): Json {
  return isObject(patch) ? mergeMap(shape, isObject(document) ? document : {}, patch) : patch;
}

function mergeMap(shape: Shape | undefined, original: Members, patch: Members): Json {
  if ('$patch' in patch) return replacement(patch);
  const result: JsonObject = { ...original };
  const rest: JsonObject = { ...patch };
  retainKeys(result, rest);
  orderLists(shape, result, rest);
  for (const [key, value] of Object.entries(rest)) {
    const isDeletion = key.startsWith(deleteFromPrefix);
    const name = isDeletion ? listName(key, deleteFromPrefix, 'primitive') : key;
    if (value === null) delete result[name];
    else mergeMember(memberShape(shape, name), result, name, value, isDeletion);
  }
  return result;
}

/** The result of a map whose patch replaces or deletes it as a whole. */
function replacement(patch: Members): Json {
  const { $patch, ...rest } = patch;
  if ($patch === 'replace') return rest;
  if ($patch === 'delete') return {};
  throw unknownPatch(patch);
}

function mergeMember(
  shape: Shape | undefined,
  result: JsonObject,
  name: string,
  value: Json,
  isDeletion: boolean,
): void {
  const original = entry(result, name);
  if (isList(original) && isList(value)) {
    setOwn(result, name, mergeList(shape, original, value, { mergeMap, isDeletion }));
  } else if (isObject(original) && isObject(value)) {
    const isReplaced = typeof shape === 'object' && shape.type === 'struct' && shape.isReplaced;
    setOwn(result, name, isReplaced ? value : mergeMap(shape, original, value));
  } else if (!isDeletion) {
    const kept = withoutDirectives(withoutNulls(value));
    if (kept === undefined) delete result[name];
    else setOwn(result, name, kept);
  }
}

/** Takes away what a patch does not name, and the directive from the patch. */
function retainKeys(result: JsonObject, patch: JsonObject): void {
  const { $retainKeys } = patch;
  if ($retainKeys === undefined) return;
  delete patch.$retainKeys;
  const kept = isList($retainKeys) ? $retainKeys : null;
  const isNamed = ([key, value]: readonly [string, Json]): boolean =>
    value === null ||
    key.startsWith(deleteFromPrefix) ||
    key.startsWith(orderPrefix) ||
    kept?.includes(key) === true;
  if (!kept || !Object.entries(patch).every(isNamed)) {
    throw badRequest('invalid patch format of retainKeys');
  }
  for (const key of Object.keys(result)) if (!kept.includes(key)) delete result[key];
}

/** Merges the lists whose order a patch gives, and takes both from the patch. */
function orderLists(shape: Shape | undefined, result: JsonObject, patch: JsonObject): void {
  for (const [directive, wanted] of Object.entries(patch)) {
    if (!directive.startsWith(orderPrefix)) continue;
    delete patch[directive];
    const name = listName(directive, orderPrefix, 'setElementOrder');
    const order = asList(wanted);
    const present = listIn(result, name);
    const given = listIn(patch, name);
    refuseUnknown(shape, name);
    const member = memberShape(shape, name);
    const key = mergedList(member)?.mergeKey ?? null;
    refuseOrder(given ?? [], order, key);
    if (!present && !given) continue;
    delete patch[name];
    const kept = present ?? asList(withoutDirectives(given ?? []) ?? []);
    const merged = given && present ? mergeList(member, present, given, { mergeMap }) : kept;
    result[name] = inOrder(merged, order, present ?? [], key);
  }
}

/** The name of the list that a directive is about. */
function listName(directive: string, prefix: string, what: string): string {
  if (directive[prefix.length] === '/') return directive.slice(prefix.length + 1);
  throw badRequest(`invalid patch format of ${what} list`);
}

function refuseUnknown(shape: Shape | undefined, name: string): void {
  if (typeof shape !== 'object' || shape.type !== 'struct') return;
  if (entry(shape.fields, name) !== undefined) return;
  throw serverError(
    `unable to find api field in struct ${shape.name} for the json field "${name}"`,
  );
}

function listIn(members: Members, name: string): readonly Json[] | null {
  const value = entry(members, name);
  return value === undefined ? null : asList(value);
}

function asList(value: Json): readonly Json[] {
  if (isList(value)) return value;
  const found = isObject(value) ? 'map[string]interface {}' : typeof value;
  const shown = value === null ? '%!s(<nil>)' : found;
  throw serverError(`expected a []interface {}, but received a ${shown}`);
}

/** A new value has no members that a null could remove. */
function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

// Lists in strategic merge patches.

interface How {
  /** Merges two maps of one shape. */
  readonly mergeMap: (shape: Shape | undefined, original: Members, patch: Members) => Json;
  /** The values of the patch are taken away. */
  readonly isDeletion?: boolean;
}

/** A list merged with its patch. Throws ApiError 500 for items that do not fit. */
function mergeList(
  shape: Shape | undefined,
  original: readonly Json[],
  patch: readonly Json[],
  { mergeMap, isDeletion = false }: How,
): readonly Json[] {
  const list = mergedList(shape);
  if (!list && !isDeletion) return patch;
  if (original.length === 0 && patch.length === 0) return original;
  refuseMixed(original, patch);
  if (!isObject(original[0] ?? patch[0])) {
    if (isDeletion) return original.filter((item) => !patch.includes(item));
    return inOrder([...new Set([...original, ...patch])], patch, original, null);
  }
  const key = list?.mergeKey;
  if (key === undefined) throw serverError('cannot merge lists without merge key for ');
  const { kept, given } = obeyed(original, patch.filter(isObject), key);
  const merged = [...kept];
  for (const item of given) {
    const at = merged.findIndex((have) => isObject(have) && have[key] === item[key]);
    const have = merged[at];
    if (isObject(have)) merged[at] = mergeMap(list?.items, have, item);
    else merged.push(item);
  }
  return inOrder(merged, given, kept, key);
}

/** The shape of a list that is merged with its patch; null for one that is replaced. */
export function mergedList(shape: Shape | undefined): List | null {
  if (typeof shape !== 'object' || shape.type !== 'list') return null;
  return shape.mergeKey !== undefined || (shape.set && !shape.isReplaced) ? shape : null;
}

function refuseMixed(original: readonly Json[], patch: readonly Json[]): void {
  const kinds = new Set([...original, ...patch].map(kindOf));
  if (kinds.size <= 1) return;
  throw serverError(`list element types are not identical: [${goText(original)} ${goText(patch)}]`);
}

function kindOf(item: Json): string {
  if (isList(item)) return 'list';
  return item === null ? 'null' : typeof item;
}

/** The items to begin with and those to merge into them, after those that are directives. */
function obeyed(original: readonly Json[], patch: readonly Members[], key: string) {
  const given = patch.filter((item) => !('$patch' in item));
  let kept = original;
  let isReplaced = false;
  for (const item of patch) {
    const { $patch } = item;
    if ($patch === 'replace') isReplaced = true;
    else if ($patch === 'merge') {
      throw serverError('merging lists cannot yet be specified in the patch');
    } else if ($patch !== undefined && $patch !== 'delete') throw unknownPatch(item);
    else if (item[key] === undefined) throw noMergeKey(item, key);
    else if ($patch === 'delete') {
      kept = kept.filter((have) => !isObject(have) || have[key] !== item[key]);
    }
  }
  return isReplaced ? { kept: given, given: [] } : { kept, given };
}

/** 500 for a `$patch` that is none. */
function unknownPatch(patch: Members): Error {
  return serverError(`unknown patch type: ${String(patch.$patch)} in map: ${goText(patch)}`);
}

/** A value without the maps in it that say what to do with them; undefined for such a map itself. */
function withoutDirectives(value: Json): Json | undefined {
  if (isList(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if ('$patch' in value) return undefined;
  const kept: Record<string, Json> = {};
  for (const [name, member] of Object.entries(value)) {
    const left = withoutDirectives(member);
    if (left !== undefined) setOwn(kept, name, left);
  }
  return kept;
}
