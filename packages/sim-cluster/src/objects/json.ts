// Builds and reads API objects as plain JSON.
import type { Json } from './kube-object.ts';

/** A JSON object that is being built. */
export type JsonObject = { [key: string]: Json };

/** The largest int64, by which people mean for ever. */
export const int64Max: bigint = 2n ** 63n - 1n;
/** JavaScript's rounding of the greatest int64, and its text. */
const rounded = Number(int64Max);
const roundedText = JSON.stringify(rounded);

/**
 * The JSON text of a value. Numbers beyond 2^53 are rounded in JavaScript; the largest int64 is
 * written with all its digits again, for rounded it is one too large for any API server.
 */
export function jsonOf(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text?.includes(roundedText) ? JSON.stringify(value, unrounded, indent) : text;
}

/** From ES2026, and in all the runtimes that we know; TypeScript's libraries do not have it yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): object };

function unrounded(_key: string, value: unknown): unknown {
  return value === rounded ? rawJSON(`${int64Max}`) : value;
}

/** True for `{...}`, false for arrays, null and scalars. */
export function isObject(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for arrays; `Array.isArray` alone widens readonly arrays to `any[]`. */
export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Deep equality of JSON values; the order of members does not matter, `undefined` is absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isList(a) && isList(b)) {
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  let members = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    if (!equal(a[key], b[key])) return false;
    members++;
  }
  for (const key in b) if (b[key] !== undefined) members--;
  return members === 0;
}

/**
 * The value with every part that equals its part of `known` taken from there; `known` itself when
 * all of it does. So an unchanged part of two states is the same object, and is recognised at once.
 */
export function sharing<T extends Json>(value: T, known: T): T {
  return shared(value, known) as T;
}

function shared(value: Json, known: Json | undefined): Json {
  if (value === known || known === undefined || known === null) return value;
  if (isList(value)) return isList(known) ? sharedItems(value, known) : value;
  if (!isObject(value) || !isObject(known)) return value;
  let result: JsonObject | null = null;
  let isKnown = true;
  let members = 0;
  for (const key in value) {
    const member = value[key] as Json | undefined;
    if (member === undefined) continue;
    members++;
    const knownMember = entry(known, key);
    const taken = shared(member, knownMember);
    if (taken !== knownMember) isKnown = false;
    if (taken === member) continue;
    result ??= { ...value };
    setOwn(result, key, taken);
  }
  if (isKnown) for (const key in known) if (known[key] !== undefined) members--;
  return isKnown && members === 0 ? known : (result ?? value);
}

function sharedItems(items: readonly Json[], known: readonly Json[]): readonly Json[] {
  const result = items.map((item, index) => shared(item, known[index]));
  const isKnown = items.length === known.length && result.every((item, at) => item === known[at]);
  return isKnown ? known : result;
}

/** A copy that shares nothing but strings with the original, and is laid out as compactly. */
export function copy(value: Json): Json {
  if (isList(value)) return value.map(copy);
  if (!isObject(value)) return value;
  const result: JsonObject = { ...value };
  for (const key in result) {
    const member = result[key] as Json;
    if (typeof member === 'object') setOwn(result, key, copy(member));
  }
  return result;
}

/** Freezes a JSON value all the way down and returns it; frozen parts are taken as frozen whole. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Not by `in`: V8 would take it for a loop over objects of one shape, and find that wrong each time.
  for (const member of Object.values(value)) {
    if (typeof member === 'object') freeze(member);
  }
  return Object.freeze(value);
}

/**
 * A table's entry for a key that a client chose: never something every object inherits, as
 * `constructor` is.
 */
export function entry<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Gives an object a member of a name that a client chose, which may be `__proto__`. */
export function setOwn<T>(object: Record<string, T>, name: string, value: T): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/** A list of texts as Go shows it. */
export function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
}

/** Values nested deeper than this are refused; no object of the API comes near it. */
export const depthMax = 1000;

/** True if values are nested no deeper than that. */
export function isShallow(value: unknown, depthLeft: number = depthMax): boolean {
  // Only values that were read before are frozen.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return true;
  return depthLeft > 0 && Object.values(value).every((member) => isShallow(member, depthLeft - 1));
}

/** A copy with the members of all its objects sorted. */
export function sortedCopy(value: Json): Json {
  if (isList(value)) return value.map(sortedCopy);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const name of Object.keys(value).sort())
    setOwn(result, name, sortedCopy(value[name] ?? null));
  return result;
}
