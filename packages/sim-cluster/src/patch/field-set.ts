import { entry, equal, isList, isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { List, Shape } from '../schema/types.ts';

/** The way to a field, element by element, as FieldTree names them. */
export type FieldPath = readonly string[];

/** True for a struct or a map that is owned as a whole. */
export function isAtomic(shape: Shape | undefined): boolean {
  return typeof shape === 'object' && 'atomic' in shape && shape.atomic === true;
}

/** True for lists whose items are owned one by one. */
export function isMerged(list: List): boolean {
  return list.set === true || list.mergeKey !== undefined;
}

/** The shape of a member, undefined below free-form parts. */
export function memberShape(shape: Shape | undefined, name: string): Shape | undefined {
  if (typeof shape !== 'object') return undefined;
  if (shape.type === 'struct') return entry(shape.fields, name);
  return shape.type === 'map' ? shape.values : undefined;
}

/** Defaults of the fields that identify a list item, in the kinds of every server. */
const keyDefaults: Readonly<Record<string, Json>> = { protocol: 'TCP' };

/** The path element of one list item. */
export function elementOf(list: List, item: Json): string {
  if (list.set) return `v:${JSON.stringify(item)}`;
  const names = [...(list.keys ?? [list.mergeKey ?? ''])].sort();
  const keys = names.map((name) => {
    const value = isObject(item) ? item[name] : undefined;
    return [name, value ?? (list.keyDefaults ?? keyDefaults)[name] ?? null] as const;
  });
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

/** A configuration whose list items say all that identifies them, defaults included. */
export function withKeys(shape: Shape | undefined, value: Json): Json {
  if (typeof shape !== 'object' || isAtomic(shape)) return value;
  if (isList(value)) {
    const list = shape.type === 'list' && isMerged(shape) && !shape.set ? shape : null;
    if (!list?.keyDefaults) return value;
    const { keyDefaults: defaults, items } = list;
    return value.map((item) => withKeys(items, isObject(item) ? { ...defaults, ...item } : item));
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    return [name, withKeys(memberShape(shape, name), member)] as const;
  });
  return Object.fromEntries(members);
}

/** The value at a field's path, undefined when the object does not have it. */
export function valueAtField(object: Json, path: FieldPath): Json | undefined {
  let current: Json | undefined = object;
  for (const element of path) {
    if (element === '.') return current === undefined ? undefined : true;
    current = step(current, element);
  }
  return current;
}

function step(value: Json | undefined, element: string): Json | undefined {
  const text = element.slice(2);
  if (element.startsWith('f:')) return isObject(value) ? entry(value, text) : undefined;
  if (!isList(value)) return undefined;
  const wanted = JSON.parse(text) as Json;
  return element.startsWith('v:')
    ? value.find((item) => equal(item, wanted))
    : value.find((item) => hasKeys(item, wanted));
}

function hasKeys(item: Json, keys: Json): boolean {
  if (!isObject(item) || !isObject(keys)) return false;
  return Object.entries(keys).every(([name, value]) =>
    equal(item[name] ?? keyDefaults[name], value),
  );
}

/** The object without the field at a path. */
export function withoutField(object: Json, path: FieldPath): Json {
  // `.` stands for the whole item, which goes with it.
  return removeAt(object, path.at(-1) === '.' ? path.slice(0, -1) : path);
}

function removeAt(value: Json, [element = '', ...rest]: FieldPath): Json {
  const inner = step(value, element);
  if (inner === undefined) return value;
  if (isList(value)) {
    if (rest.length === 0) return value.filter((item) => item !== inner);
    return value.map((item) => (item === inner ? removeAt(inner, rest) : item));
  }
  const name = element.slice(2);
  const { [name]: _removed, ...others } = value as { readonly [key: string]: Json };
  return rest.length === 0 ? others : { ...others, [name]: removeAt(inner, rest) };
}

/** A path as conflict messages show it: `.spec.taints`, `.status.conditions[type="Ready"].status`. */
export function showField(path: FieldPath): string {
  return path
    .filter((element) => element !== '.')
    .map((element) => {
      const text = element.slice(2);
      if (element.startsWith('f:')) return `.${text}`;
      if (element.startsWith('v:')) return `[=${text}]`;
      const keys = Object.entries(JSON.parse(text) as Readonly<Record<string, Json>>);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}
