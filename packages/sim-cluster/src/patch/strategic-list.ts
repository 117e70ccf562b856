// Lists in strategic merge patches.
import { serverError } from '../objects/errors.ts';
import { isList, isObject, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { List, Shape } from '../schema/types.ts';
import { goText } from './go-text.ts';
import { inOrder, noMergeKey } from './strategic-order.ts';

type Members = { readonly [key: string]: Json };

interface How {
  /** Merges two maps of one shape. */
  readonly mergeMap: (shape: Shape | undefined, original: Members, patch: Members) => Json;
  /** The values of the patch are taken away. */
  readonly isDeletion?: boolean;
}

/** A list merged with what a patch says of it. Throws ApiError 500 for items that do not fit. */
export function mergeList(
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

/** The shape of a list that is merged with what a patch has of it; null for one that is replaced. */
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
export function unknownPatch(patch: Members): Error {
  return serverError(`unknown patch type: ${String(patch.$patch)} in map: ${goText(patch)}`);
}

/** A value without the maps in it that say what to do with them; undefined for such a map itself. */
export function withoutDirectives(value: Json): Json | undefined {
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
