// A schema in the words that server-side apply reads: which parts merge and which are owned whole.
import type { Json } from '@taintmgr/sim-cluster/server';
import {
  freeForm,
  type List,
  objectMeta,
  type Shape,
  type Struct,
  struct,
} from '@taintmgr/sim-cluster/server';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';

/** The shape of a whole custom resource. */
export function shapeOf(kind: string, schema: JsonSchema): Struct {
  const { metadata: _metadata, ...rest } = fieldsOf(schema);
  return struct(kind, { ...rest, apiVersion: 'string', kind: 'string', metadata: objectMeta });
}

function fieldsOf({ properties = {} }: JsonSchema): Struct['fields'] {
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, partShape(inner)]),
  );
}

function partShape(schema: JsonSchema): Shape {
  if (schema.type === 'array') return listShape(schema);
  const isOpen = schema.type === undefined && !schema['x-kubernetes-int-or-string'];
  if (schema.type !== 'object') return isOpen ? freeForm : 'any';
  const values = valuesSchema(schema);
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
  if (values && !isAtomic) return { type: 'map', values: partShape(values) };
  return { ...struct('', fieldsOf(schema)), ...(isAtomic ? { atomic: true } : {}) };
}

function listShape(schema: JsonSchema): List {
  const inner = itemsSchema(schema);
  const items = inner ? partShape(inner) : 'any';
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const [mergeKey] = keys;
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { type: 'list', items, set: true };
    case 'map':
      return {
        type: 'list',
        items,
        keys,
        keyDefaults: defaultsOf(inner, keys),
        ...(mergeKey === undefined ? {} : { mergeKey }),
      };
    default:
      return { type: 'list', items };
  }
}

function defaultsOf(items: JsonSchema | null, keys: readonly string[]): Record<string, Json> {
  const defaults: Record<string, Json> = {};
  for (const key of keys) {
    const value = items?.properties?.[key]?.default;
    if (value !== undefined) defaults[key] = value;
  }
  return defaults;
}
