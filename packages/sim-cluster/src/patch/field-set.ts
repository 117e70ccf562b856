import { equal, isList, isObject, type JsonObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import type { List, Shape, Struct } from '../schema/types.ts';

/**
 * The fields a manager owns, as FieldsV1 writes them: `f:name` is a member, `k:{...}` a list item
 * by its keys, `v:...` a member of a set, `.` the item itself. Here each field is a path of such
 * elements, joined by newlines so that paths can be kept in a Set.
 */
export type FieldSet = ReadonlySet<string>;

const separator = '\n';

/** Members of metadata that belong to the server and to nobody else. */
const serverOwned: readonly string[] = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
].map((name) => ['f:metadata', `f:${name}`].join(separator));
const ignoredKeys = new Set(['f:apiVersion', 'f:kind', ...serverOwned]);

/** The fields that an object sets. */
export function fieldsOf(shape: Struct, object: Json): FieldSet {
  const fields = new Set<string>();
  collect(shape, object, [], fields);
  return fields;
}

function collect(shape: Shape | undefined, value: Json, path: readonly string[], to: Set<string>) {
  const key = path.join(separator);
  if (ignoredKeys.has(key)) return;
  if (isObject(value) && !isAtomic(shape)) {
    // An empty object says nothing of the fields it could have.
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    for (const [name, member] of members) {
      collect(memberShape(shape, name), member, [...path, `f:${name}`], to);
    }
    return;
  }
  const list = typeof shape === 'object' && shape.type === 'list' ? shape : null;
  if (!list || !isList(value) || !isMerged(list)) {
    to.add(key);
    return;
  }
  for (const item of value) {
    const element = elementOf(list, item);
    if (!list.set) to.add([...path, element, '.'].join(separator));
    if (list.set) to.add([...path, element].join(separator));
    else collect(list.items, item, [...path, element], to);
  }
}

/** True for a struct or a map that is owned as a whole. */
export function isAtomic(shape: Shape | undefined): boolean {
  return typeof shape === 'object' && shape.type !== 'list' && shape.atomic === true;
}

/** True for lists whose items are owned one by one. */
export function isMerged(list: List): boolean {
  return list.set === true || list.mergeKey !== undefined;
}

/** The shape of a member, undefined below free-form parts. */
export function memberShape(shape: Shape | undefined, name: string): Shape | undefined {
  if (typeof shape !== 'object') return undefined;
  if (shape.type === 'struct') return shape.fields[name];
  return shape.type === 'map' ? shape.values : undefined;
}

/** Defaults of the fields that identify a list item. */
const keyDefaults: Readonly<Record<string, Json>> = { protocol: 'TCP' };

/** The path element of one list item. */
export function elementOf(list: List, item: Json): string {
  if (list.set) return `v:${JSON.stringify(item)}`;
  const names = [...(list.keys ?? [list.mergeKey ?? ''])].sort();
  const keys = names.map((name) => {
    const value = isObject(item) ? item[name] : undefined;
    return [name, value ?? keyDefaults[name] ?? null] as const;
  });
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

/** Reads FieldsV1. */
export function parseFields(fields: Json | undefined): FieldSet {
  const set = new Set<string>();
  const walk = (value: Json | undefined, path: readonly string[]): void => {
    const members = isObject(value) ? Object.entries(value) : [];
    if (members.length === 0 && path.length > 0) set.add(path.join(separator));
    for (const [element, inner] of members) walk(inner, [...path, element]);
  };
  walk(fields, []);
  return set;
}

/** Writes FieldsV1. */
export function formatFields(set: FieldSet): Json {
  const root: JsonObject = {};
  for (const path of [...set].sort()) {
    let here = root;
    for (const element of path.split(separator)) {
      here[element] ??= {};
      here = here[element] as JsonObject;
    }
  }
  return root;
}

/** The value at a field's path, undefined when the object does not have it. */
export function valueAtField(object: Json, path: string): Json | undefined {
  let current: Json | undefined = object;
  for (const element of path.split(separator)) {
    if (element === '.') return current === undefined ? undefined : true;
    current = step(current, element);
  }
  return current;
}

function step(value: Json | undefined, element: string): Json | undefined {
  const text = element.slice(2);
  if (element.startsWith('f:')) return isObject(value) ? value[text] : undefined;
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
export function withoutField(object: Json, path: string): Json {
  const elements = path.split(separator);
  // `.` stands for the whole item, which goes with it.
  return removeAt(object, elements.at(-1) === '.' ? elements.slice(0, -1) : elements);
}

function removeAt(value: Json, [element = '', ...rest]: readonly string[]): Json {
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
export function showField(path: string): string {
  return path
    .split(separator)
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
