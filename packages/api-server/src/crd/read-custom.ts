// Reads JSON as a custom resource: metadata as of every kind, the rest by the schema, all sorted.

import type { Json } from '@taintmgr/sim-cluster/server';
import {
  type Decoded,
  DecodeError,
  decode,
  isObject,
  type JsonObject,
  objectMeta,
  sortedCopy,
  struct,
} from '@taintmgr/sim-cluster/server';
import type { JsonSchema } from '../structural/json-schema.ts';
import { readValue } from '../structural/read.ts';

const ofEveryKind = struct('ObjectMeta', { metadata: objectMeta });

/** A whole custom resource. Throws DecodeError or TimeError for metadata of a wrong type. */
export function readCustom(schema: JsonSchema, given: unknown, defaults: boolean): Decoded {
  if (!isObject(given)) throw new DecodeError('json: cannot unmarshal into an object');
  const { apiVersion = '', kind = '', metadata, ...rest } = given;
  const own = decode(ofEveryKind, { metadata: metadata ?? {} });
  const unknown: string[] = [];
  const read = readValue(partOf(schema), rest, '', { defaults, unknown });
  const value: JsonObject = {
    ...(read as JsonObject),
    apiVersion,
    kind,
    metadata: sortedCopy(own.value.metadata as Json),
  };
  const sorted = Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, value[name]]),
  );
  return { value: sorted as JsonObject, unknown: [...unknown, ...own.unknown] };
}

const parts = new WeakMap<JsonSchema, JsonSchema>();

/** What every kind has is not read by the schema. */
function partOf(schema: JsonSchema): JsonSchema {
  let part = parts.get(schema);
  if (!part) {
    const { apiVersion: _v, kind: _k, metadata: _m, ...properties } = schema.properties ?? {};
    part = { ...schema, properties };
    parts.set(schema, part);
  }
  return part;
}
