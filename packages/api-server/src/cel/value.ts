// The values of CEL: how JSON becomes them, and when two of them are equal.
import { evaluate, Optional } from '@marcbachmann/cel-js';
import type { Json } from '@taintmgr/sim-cluster/server';
import { isList, isObject, setOwn } from '@taintmgr/sim-cluster/server';
import type { CelObject, CelType } from './type.ts';

/**
 * A value within CEL: `int` is a bigint, `double` a number, a map a Map, a timestamp a Date;
 * objects with declared fields are instances of a class for each type.
 */
export type CelValue = unknown;

/** An error of an evaluation, worded as Kubernetes does. */
export class CelError extends Error {}

/** A length of time as the library holds it; the class itself it keeps. */
export interface CelDuration {
  valueOf(): number;
  toString(): string;
  addDuration(other: CelDuration): CelDuration;
}

const durationClass: unknown = evaluate('duration("0s")').constructor;

export function isDuration(value: unknown): value is CelDuration {
  return typeof value === 'object' && value !== null && value.constructor === durationClass;
}

/** A time as text, with fractions of a second only where there are some. */
export function timeText(time: Date): string {
  return time.toISOString().replace(/\.(\d*?)0*Z$/, (_, digits) => (digits ? `.${digits}Z` : 'Z'));
}

/** Objects with declared fields; which ones, the environment of an expression says. */
class Fields {
  [name: string]: CelValue;
}

type Instance = Record<string, CelValue>;
/** The class of the objects of a type, and the name under which expressions know it. */
export interface ObjectClass {
  readonly name: string;
  readonly make: new () => Instance;
}

const classes = new WeakMap<CelObject, ObjectClass>();
let classCount = 0;

/** The class of a type's objects; the same one in all environments. */
export function classOf(type: CelObject): ObjectClass {
  let known = classes.get(type);
  if (!known) {
    known = { name: `Object${++classCount}`, make: class extends Fields {} };
    classes.set(type, known);
  }
  return known;
}

/** JSON as a value of a type. A part that does not fit the type is converted without one. */
export function toCel(type: CelType, json: Json | undefined): CelValue {
  if (json === undefined) return undefined;
  if (typeof type === 'string') return scalar(type, json);
  switch (type.kind) {
    case 'list':
      return isList(json) ? json.map((item) => toCel(type.items, item)) : dynamic(json);
    case 'map':
      return isObject(json) ? mapFrom(json, (value) => toCel(type.values, value)) : dynamic(json);
    case 'optional':
      return optional(toCel(type.of, json));
    case 'object':
      return isObject(json) ? objectFrom(type, json) : dynamic(json);
  }
}

function scalar(type: CelType, json: Json): CelValue {
  if (type === 'int' && typeof json === 'number') return BigInt(Math.trunc(json));
  if (type === 'double' && typeof json === 'number') return json;
  if (typeof json !== 'string') return dynamic(json);
  if (type === 'timestamp') return new Date(json);
  if (type === 'bytes') return new Uint8Array(Buffer.from(json, 'base64'));
  return type === 'duration' ? evaluate('duration(text)', { text: json }) : json;
}

/** Without a type: whole numbers are ints, objects are maps. */
function dynamic(json: Json): CelValue {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (isList(json)) return json.map(dynamic);
  return isObject(json) ? mapFrom(json, dynamic) : json;
}

function mapFrom(
  json: { readonly [key: string]: Json },
  convert: (value: Json) => CelValue,
): Map<string, CelValue> {
  const map = new Map<string, CelValue>();
  for (const key of Object.keys(json)) map.set(key, convert(json[key] as Json));
  return map;
}

function objectFrom(type: CelObject, json: { readonly [key: string]: Json }): CelValue {
  const instance = new (classOf(type).make)();
  for (const [field, fieldType] of Object.entries(type.fields)) {
    const name = propertyName(field);
    // A field that holds null is as one that is not there.
    if (!Object.hasOwn(json, name) || json[name] === null) continue;
    setOwn(instance, field, toCel(fieldType, json[name]));
  }
  return instance;
}

/** An object whose fields are worked out when they are read, each once. */
export function lazyObject(
  type: CelObject,
  fields: Readonly<Record<string, () => CelValue>>,
): CelValue {
  const instance = new (classOf(type).make)();
  for (const [field, read] of Object.entries(fields)) {
    let known: { readonly value: CelValue } | null = null;
    Object.defineProperty(instance, field, {
      enumerable: true,
      get: () => {
        known ??= { value: read() };
        return known.value;
      },
    });
  }
  return instance;
}

/** A value that may be missing: undefined is none. */
export function optional(value: CelValue): CelValue {
  return Optional.of(value);
}

/** Words of CEL; a property of such a name is written `__namespace__`. */
const keywords: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package ' +
    'namespace return'
  ).split(' '),
);
const escapes: readonly (readonly [string, string])[] = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
];

/** A property's name as a field of an expression; null for one that expressions cannot read. */
export function fieldName(property: string): string | null {
  if (keywords.has(property)) return `__${property}__`;
  if (!/^[A-Za-z_./-][\w./-]*$/.test(property)) return null;
  return property.replace(
    /__|[./-]/g,
    (part) => escapes.find(([plain]) => plain === part)?.[1] ?? '',
  );
}

function propertyName(field: string): string {
  const word = /^__([a-z]+)__$/.exec(field)?.[1];
  if (word !== undefined && keywords.has(word)) return word;
  return field.replace(
    /__(?:underscores|dot|dash|slash)__/g,
    (part) => escapes.find(([, escaped]) => escaped === part)?.[0] ?? '',
  );
}

/** True if two values are equal; numbers of different types may be. */
export function celEqual(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => celEqual(item, b[index]));
  }
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (isDuration(a) && isDuration(b)) return a.valueOf() === b.valueOf();
  if (a instanceof Optional && b instanceof Optional) {
    if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue();
    return celEqual(a.value(), b.value());
  }
  const mine = entriesOf(a);
  const theirs = entriesOf(b);
  if (mine.size !== theirs.size) return false;
  return [...mine].every(([key, value]) => theirs.has(key) && celEqual(value, theirs.get(key)));
}

function isNumber(value: CelValue): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

function entriesOf(value: object): ReadonlyMap<unknown, CelValue> {
  return value instanceof Map ? value : new Map(Object.entries(value));
}

/** Values that have an order. */
export type Ordered = bigint | number | string | boolean | Date | CelDuration;

/** Negative: `a` comes first. */
export function compareValues(a: Ordered, b: Ordered): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
