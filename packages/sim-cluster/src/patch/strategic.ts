// Strategic merge patch.
import { badRequest, serverError } from '../objects/errors.ts';
import { entry, isList, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { Shape } from '../schema/types.ts';
import { memberShape } from './field-set.ts';
import { mergedList, mergeList, unknownPatch, withoutDirectives } from './strategic-list.ts';
import { inOrder, refuseOrder } from './strategic-order.ts';

const orderPrefix = '$setElementOrder';
const deleteFromPrefix = '$deleteFromPrimitiveList';

type Members = { readonly [key: string]: Json };

/**
 * Strategic merge patch: like a merge patch, but lists that have a merge key in the schema are
 * merged item by item, and the directives `$patch`, `$retainKeys`, `$setElementOrder/x` and
 * `$deleteFromPrimitiveList/x` are obeyed. A list without a merge key is replaced whole. What is
 * new is taken as it is, and so are the places where kube-apiserver looks for directives.
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

/** What a map becomes that says what to do with it as a whole. */
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

/** What is new has nothing that a null could take away. */
function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
