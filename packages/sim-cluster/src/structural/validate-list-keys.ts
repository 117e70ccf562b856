// Whether lists of type map and set say rightly how their items are told apart.
import type { Cause } from '../objects/errors.ts';
import { forbiddenValue, invalidValue, required } from '../validation/causes.ts';
import { itemsSchema, type JsonSchema } from './json-schema.ts';

const listTypes = ['atomic', 'set', 'map'] as const;

/** What is wrong with the list type of a schema. */
export function validateListKeys(schema: JsonSchema, path: string): readonly Cause[] {
  const listType = schema['x-kubernetes-list-type'];
  const field = `${path}.x-kubernetes-list-type`;
  const keysCauses = strayKeys(schema, field);
  if (listType === undefined) return keysCauses;
  if (!listTypes.some((known) => known === listType)) {
    const list = listTypes.map((type) => JSON.stringify(type)).join(', ');
    const message = `Unsupported value: ${JSON.stringify(listType)}: supported values: ${list}`;
    return [{ reason: 'FieldValueNotSupported', message, field }];
  }
  if (schema.type !== 'array') {
    const text = 'must be array if x-kubernetes-list-type is specified';
    const { type = '' } = schema;
    const place = `${path}.type`;
    return [type === '' ? required(place, text) : invalidValue(place, type, text), ...keysCauses];
  }
  if (listType === 'set') return [...setCauses(schema, path), ...keysCauses];
  return listType === 'map' ? mapCauses(schema, path) : keysCauses;
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
  return items?.nullable ? [forbiddenNull(`${path}.items.nullable`, 'set')] : [];
}

function forbiddenNull(field: string, type: string): Cause {
  return forbiddenValue(field, `cannot be nullable when x-kubernetes-list-type is ${type}`);
}

function mapCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const field = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) {
    return [required(field, 'must not be empty if x-kubernetes-list-type is map')];
  }
  const items = itemsSchema(schema);
  if (items?.type !== 'object') {
    const text = "must be object if parent array's x-kubernetes-list-type is map";
    return [invalidValue(`${path}.items.type`, items?.type ?? '', text)];
  }
  const properties = items.properties ?? {};
  const causes: Cause[] = [];
  if (keys.some((key) => !Object.hasOwn(properties, key))) {
    causes.push(invalidValue(field, keys, 'entries must all be names of item properties'));
  }
  if (new Set(keys).size < keys.length) {
    causes.push(invalidValue(field, keys, 'must not contain duplicate entries'));
  }
  if (items.nullable) causes.push(forbiddenNull(`${path}.items.nullable`, 'map'));
  for (const key of new Set(keys)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) continue;
    const place = `${path}.items.properties[${key}]`;
    if (property.type === 'object' || property.type === 'array') {
      const text = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      causes.push(invalidValue(`${place}.type`, property.type, text));
    } else if (property.default === undefined && !items.required?.includes(key)) {
      const text =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      causes.push(required(`${place}.default`, text));
    }
    if (property.nullable) {
      const text = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      causes.push(forbiddenValue(`${place}.nullable`, text));
    }
  }
  return causes;
}
