// Reads a value by its schema: unknown fields are dropped, defaults filled in, members sorted.

import type { Json } from '@taintmgr/sim-cluster/server';
import {
  decode,
  isList,
  isObject,
  type JsonObject,
  objectMeta,
  setOwn,
  sortedCopy,
  struct,
} from '@taintmgr/sim-cluster/server';
import { itemsSchema, type JsonSchema, joined, keepsUnknown, memberSchema } from './json-schema.ts';

export interface ReadOptions {
  /** Fills in defaults; an applied configuration owns no default. */
  readonly defaults: boolean;
  /** Gathers the paths of dropped members. */
  readonly unknown: string[];
}

/** Members that an embedded object has whatever its schema says. */
const embedded: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/** The schema of items in a place where a list is invalid: it knows no fields. */
const noSchema: JsonSchema = {};

/** A value as its schema has it. Values of a wrong type stay, for validation to find. */
export function readValue(
  schema: JsonSchema | null,
  value: Json,
  path: string,
  options: ReadOptions,
): Json {
  if (isList(value)) {
    const items = schema && (itemsSchema(schema) ?? (keepsUnknown(schema) ? null : noSchema));
    return value.map((item, index) => readValue(items, item, `${path}[${index}]`, options));
  }
  if (!isObject(value)) return value;
  return schema ? readObject(schema, value, path, options) : sortedCopy(value);
}

function readObject(
  schema: JsonSchema,
  value: { readonly [key: string]: Json },
  path: string,
  options: ReadOptions,
): Json {
  const names = new Set(Object.keys(value));
  if (options.defaults) for (const name of defaulted(schema)) names.add(name);
  const result: JsonObject = {};
  for (const name of [...names].sort()) {
    const member = readMember(schema, name, value[name], joined(path, name), options);
    if (member !== undefined) setOwn(result, name, member);
  }
  return result;
}

function readMember(
  schema: JsonSchema,
  name: string,
  value: Json | undefined,
  path: string,
  options: ReadOptions,
): Json | undefined {
  if (schema['x-kubernetes-embedded-resource'] === true && embedded.includes(name)) {
    return name === 'metadata' ? readMetadata(value, path, options) : value;
  }
  const inner = memberSchema(schema, name);
  if (!inner) {
    const isKept = keepsUnknown(schema);
    if (!isKept) options.unknown.push(path);
    return isKept && value !== undefined ? readValue(null, value, path, options) : undefined;
  }
  const isMissing = value === undefined || (value === null && inner.nullable !== true);
  if (!isMissing) return readValue(inner, value, path, options);
  if (!options.defaults) return value;
  return inner.default === undefined ? undefined : readValue(inner, inner.default, path, options);
}

const ofEveryKind = struct('ObjectMeta', { metadata: objectMeta });

/** Metadata has the members that it has everywhere. Throws DecodeError. */
function readMetadata(
  value: Json | undefined,
  path: string,
  { unknown }: ReadOptions,
): Json | undefined {
  if (!isObject(value)) return value;
  const { value: read, unknown: dropped } = decode(ofEveryKind, { metadata: value });
  unknown.push(...dropped.map((name) => `${path}${name.slice('metadata'.length)}`));
  const metadata = sortedCopy(read.metadata as Json) as JsonObject;
  // An embedded object is not stored, so it has no creation time.
  const { creationTimestamp, ...rest } = metadata;
  return creationTimestamp === null ? rest : metadata;
}

function defaulted({ properties = {} }: JsonSchema): readonly string[] {
  return Object.keys(properties).filter((name) => properties[name]?.default !== undefined);
}
