// The fields that an apply removes: the last apply set them, and this one does not name them.
import { entry, equal, isList, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import type { Shape } from '../schema/types.ts';
import { memberShape } from './field-set.ts';
import { mergedList } from './strategic.ts';

/** The annotation in which kubectl records its last applied configuration. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

type Members = { readonly [name: string]: Json };

/**
 * An object without what its last apply set and `next` does not name, as `kubectl apply` takes it
 * away. The number of replicas stays: a manifest without one leaves it to an autoscaler.
 */
export function withoutGone(shape: Shape, current: KubeObject, next: KubeObject): Json {
  const last = lastApplied(current);
  return last
    ? withoutMembers(shape, current as unknown as Members, last, next as unknown as Members)
    : (current as unknown as Json);
}

/** Null: the object was never applied, or its annotation cannot be read. */
function lastApplied({ metadata }: KubeObject): Members | null {
  const text = metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return null;
  try {
    const last: unknown = JSON.parse(text);
    if (!isObject(last)) return null;
    if (!isObject(last.spec)) return last;
    const { replicas: _, ...spec } = last.spec;
    return { ...last, spec };
  } catch {
    return null;
  }
}

function withoutMembers(
  shape: Shape | undefined,
  current: Members,
  last: Members,
  next: Members,
): Json {
  const result: JsonObject = { ...current };
  for (const [name, was] of Object.entries(last)) {
    const [present, given] = [entry(result, name), entry(next, name)];
    if (given === undefined) delete result[name];
    else if (present !== undefined) {
      setOwn(result, name, withoutIn(memberShape(shape, name), present, was, given));
    }
  }
  return result;
}

function withoutIn(shape: Shape | undefined, current: Json, last: Json, next: Json): Json {
  if (isObject(current) && isObject(last) && isObject(next)) {
    return withoutMembers(shape, current, last, next);
  }
  if (!isList(current) || !isList(last) || !isList(next)) return current;
  const merged = mergedList(shape);
  if (!merged) return current;
  const { mergeKey, items } = merged;
  const isSame = (one: Json) => (other: Json) =>
    equal(keyIn(one, mergeKey), keyIn(other, mergeKey));
  return current.flatMap((item) => {
    const [was, given] = [last.find(isSame(item)), next.find(isSame(item))];
    if (was === undefined) return [item];
    return given === undefined ? [] : [withoutIn(items, item, was, given)];
  });
}

function keyIn(item: Json, mergeKey: string | undefined): Json {
  return mergeKey !== undefined && isObject(item) ? (item[mergeKey] ?? null) : item;
}
