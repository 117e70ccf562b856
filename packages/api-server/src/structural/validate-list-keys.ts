// Whether lists of type map and set say rightly how their items are told apart.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { forbiddenValue, invalidValue, required } from '@taintmgr/sim-cluster/server';
import { itemsSchema, type JsonSchema } from './json-schema.ts';

const listTypes = ['atomic', 'set', 'map'] as const;

/** What is wrong with the list type of a schema. */
export function validateListKeys(schema: JsonSchema, path: string): readonly Cause[] {
  const listType = schema['x-kubernetes-list-type'];
  return [
    ...(listType === undefined ? [] : typeCauses(schema, listType, path)),
    ...strayKeys(schema, `${path}.x-kubernetes-list-type`),
    ...(listType === 'map' ? mapCauses(schema, path) : []),
    ...(listType === 'map' || listType === 'set' ? nullCauses(schema, listType, path) : []),
  ];
}

function typeCauses(schema: JsonSchema, listType: string, path: string): readonly Cause[] {
  const { type = '' } = schema;
  const causes: Cause[] = [];
  if (type !== 'array') {
    const text = 'must be array if x-kubernetes-list-type is specified';
    const field = `${path}.type`;
    causes.push(type === '' ? required(field, text) : invalidValue(field, type, text));
  } else if (listType === 'set') causes.push(...setCauses(schema, path));
  if (!listTypes.some((known) => known === listType)) {
    const list = listTypes.map((known) => JSON.stringify(known)).join(', ');
    const message = `Unsupported value: ${JSON.stringify(listType)}: supported values: ${list}`;
    const field = `${path}.x-kubernetes-list-type`;
    causes.push({ reason: 'FieldValueNotSupported', message, field });
  }
  return causes;
}

/** Keys tell the items of lists of type map apart, and of no other. */
function strayKeys(schema: JsonSchema, field: string): readonly Cause[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'map' || !schema['x-kubernetes-list-map-keys']?.length) return [];
  const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
  return [listType === undefined ? required(field, text) : invalidValue(field, listType, text)];
}

function setCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const items = itemsSchema(schema);
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, null, text)];
  }
  const innerType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && innerType !== undefined && innerType !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, innerType, text)];
  }
  return [];
}

function mapCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const field = `${path}.x-kubernetes-list-map-keys`;
  const causes: Cause[] = [];
  if (keys.length === 0) {
    causes.push(required(field, 'must not be empty if x-kubernetes-list-type is map'));
  }
  const items = itemsSchema(schema);
  if (!items) {
    const text = 'must have a schema if x-kubernetes-list-type is map';
    return [...causes, required(`${path}.items`, text)];
  }
  if (items.type !== 'object') {
    const text = "must be object if parent array's x-kubernetes-list-type is map";
    return [...causes, invalidValue(`${path}.items.type`, items.type ?? '', text)];
  }
  for (const [index, key] of keys.entries()) {
    const property = propertyOf(items, key);
    if (!property) {
      causes.push(invalidValue(field, keys, 'entries must all be names of item properties'));
    } else if (property.type === 'object' || property.type === 'array') {
      const text = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      // The real server shows the type of the items here.
      const place = `${path}.items.properties[${key}].type`;
      causes.push(invalidValue(place, items.type, text));
    }
    if (keys.indexOf(key) < index) {
      causes.push(invalidValue(field, keys, 'must not contain duplicate entries'));
    }
  }
  return causes;
}

/** Items and their keys have to be there. */
function nullCauses(schema: JsonSchema, listType: string, path: string): readonly Cause[] {
  const items = itemsSchema(schema);
  if (!items) return [];
  const causes: Cause[] = [];
  if (items.nullable) {
    const text = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    causes.push(forbiddenValue(`${path}.items.nullable`, text));
  }
  for (const key of listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []) {
    const property = propertyOf(items, key);
    if (!property) continue;
    const place = `${path}.items.properties[${key}]`;
    const what = 'this property is in x-kubernetes-list-map-keys, so it';
    if (property.default === undefined && !items.required?.includes(key)) {
      const text = `${what} must have a default or be a required property`;
      causes.push(required(`${place}.default`, text));
    }
    if (property.nullable) {
      causes.push(forbiddenValue(`${place}.nullable`, `${what} cannot be nullable`));
    }
  }
  return causes;
}

function propertyOf({ properties = {} }: JsonSchema, name: string): JsonSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
