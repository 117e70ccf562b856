// The types that CEL rules see in a schema.

import { entry, setOwn } from '@taintmgr/sim-cluster/server';
import { type CelObject, type CelType, listOf, mapOf } from '../cel/type.ts';
import { fieldName } from '../cel/value.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';

const textFormats: Readonly<Record<string, CelType>> = {
  'date-time': 'timestamp',
  date: 'timestamp',
  duration: 'duration',
  byte: 'bytes',
};

/** All that rules see of metadata. */
const metadata: CelObject = {
  kind: 'object',
  name: 'object',
  fields: { name: 'string', generateName: 'string' },
};

/** The type of a value; null for one that rules cannot see. */
export function celTypeOf(schema: JsonSchema, isRoot = false): CelType | null {
  if (schema['x-kubernetes-int-or-string']) return 'dyn';
  switch (schema.type) {
    case 'array': {
      const inner = itemsSchema(schema);
      const items = inner ? celTypeOf(inner) : null;
      return items ? listOf(items) : null;
    }
    case 'object':
      return objectType(schema, isRoot || schema['x-kubernetes-embedded-resource'] === true);
    case 'string':
      return entry(textFormats, schema.format ?? '') ?? 'string';
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
      // Rules cannot see values that are kept without a schema.
      return null;
  }
}

function objectType(schema: JsonSchema, isWhole: boolean): CelType | null {
  const values = valuesSchema(schema);
  if (values) {
    const type = celTypeOf(values);
    return type ? mapOf(type) : null;
  }
  const fields: Record<string, CelType> = {};
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const field = fieldName(name);
    const type = field === null ? null : celTypeOf(inner);
    if (field !== null && type) setOwn(fields, field, type);
  }
  const whole = isWhole ? ({ apiVersion: 'string', kind: 'string', metadata } as const) : {};
  return { kind: 'object', name: 'object', fields: { ...fields, ...whole } };
}
