// Checks the schema of a definition.
import {
  type Cause,
  forbiddenValue,
  invalidValue,
  type Json,
  notSupported,
  required,
  sortedCopy,
} from '@taintmgr/sim-cluster/server';
import { embeddedCauses } from './embedded.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';
import { readValue } from './read.ts';
import { compileRules, judge, type RuleError } from './rules.ts';
import { validateValue } from './validate.ts';
import { validateRuleForms, validateRules } from './validate-rules.ts';
import { validateStructure } from './validate-structure.ts';

// Checks that lists of type map and set declare valid keys.

const listTypes = ['atomic', 'set', 'map'] as const;

/** The faults in the list type of a schema. */
function validateListKeys(schema: JsonSchema, path: string): readonly Cause[] {
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

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const;

/**
 * The faults in the schema of one version at `path`. As on the real server, defaults are checked
 * where the schema is structural, and rules where defaults are valid too.
 */
export function validateSchema(schema: JsonSchema, path: string): readonly Cause[] {
  const isRead = partCauses(schema, path, unreadCauses).length === 0;
  const structure = isRead ? validateStructure(schema, path) : [];
  const defaults = isRead && structure.length === 0 ? defaultCauses(schema, path) : [];
  const plain = [
    ...rootCauses(schema, path),
    ...partCauses(schema, path, ownCauses),
    ...partCauses(schema, path, validateListKeys),
  ];
  const causes = [...structure, ...defaults, ...plain];
  if (!isRead || structure.length > 0 || defaults.length > 0) return causes;
  // A rule is not compiled where something in its schema, or below, is wrong.
  const isSound = (place: string): boolean =>
    !plain.some(({ field = '' }) => isWithin(field, place));
  return [...causes, ...validateRules(schema, path, isSound)];
}

function isWithin(field: string, place: string): boolean {
  return field.startsWith(place) && /^(?:[.[]|$)/.test(field.slice(place.length));
}

/** Defaults of the values of maps are not looked at. */
function defaultCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const items = itemsSchema(schema);
  return [
    ...validateDefault(schema, path),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      defaultCauses(inner, `${path}.properties[${name}]`),
    ),
    ...(items ? defaultCauses(items, `${path}.items`) : []),
  ];
}

function rootCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const { nullable, properties = {} } = schema;
  const text = 'nullable cannot be true at the root';
  return [
    ...(nullable ? [forbiddenValue(`${path}.nullable`, text)] : []),
    ...['apiVersion', 'kind', 'metadata'].flatMap((name) =>
      topDefaultCauses(properties[name], `${path}.properties[${name}]`, name),
    ),
  ];
}

/** The server alone sets the defaults of fields that every object has. */
function topDefaultCauses(
  schema: JsonSchema | undefined,
  path: string,
  name: string,
): readonly Cause[] {
  if (!schema) return [];
  const text = `must not be set in top-level ${name}`;
  return [
    ...(schema.default === undefined ? [] : [forbiddenValue(`${path}.default`, text)]),
    ...Object.entries(schema.properties ?? {}).flatMap(([member, inner]) =>
      topDefaultCauses(inner, `${path}.properties[${member}]`, name),
    ),
  ];
}

type Check = (schema: JsonSchema, path: string) => readonly Cause[];

/** The findings of a check in a schema and all its parts. */
function partCauses(schema: JsonSchema, path: string, check: Check): readonly Cause[] {
  const inner = (part: JsonSchema | null | undefined, step: string): readonly Cause[] =>
    part ? partCauses(part, `${path}.${step}`, check) : [];
  const each = (parts: readonly JsonSchema[] | undefined, step: string): readonly Cause[] =>
    (parts ?? []).flatMap((part, index) => inner(part, `${step}[${index}]`));
  return [
    ...check(schema, path),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
      inner(part, `properties[${name}]`),
    ),
    ...inner(valuesSchema(schema), 'additionalProperties'),
    ...inner(itemsSchema(schema), 'items'),
    ...inner(schema.not, 'not'),
    ...each(schema.allOf, 'allOf'),
    ...each(schema.anyOf, 'anyOf'),
    ...each(schema.oneOf, 'oneOf'),
  ];
}

function ownCauses(schema: JsonSchema, path: string): readonly Cause[] {
  return [
    ...unreadCauses(schema, path),
    ...memberCauses(schema, path),
    ...mapTypeCauses(schema, path),
    ...validateRuleForms(schema, path),
  ];
}

const unsupported = ['id', 'additionalItems', '$ref', 'dependencies'] as const;
const unsupportedMaps = ['definitions', 'patternProperties'] as const;

/** With any of this, the server does not ask whether a schema is structural. */
function unreadCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  const forbid = (member: string): void => {
    causes.push(forbiddenValue(`${path}.${member}`, `${member} is not supported`));
  };
  for (const member of unsupported) {
    if (Object.hasOwn(schema, member) && schema[member] !== '') forbid(member);
  }
  for (const member of unsupportedMaps) {
    if (Object.keys(schema[member] ?? {}).length > 0) forbid(member);
  }
  if (Array.isArray(schema.items)) {
    const text = 'items must be a schema object and not an array';
    causes.push(forbiddenValue(`${path}.items`, text));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`;
    causes.push(invalidValue(field, false, 'must be true or undefined'));
  }
  return causes;
}

function memberCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const { type = '', uniqueItems, additionalProperties: values, properties = {} } = schema;
  const causes: Cause[] = [];
  if (type !== '' && !types.some((known) => known === type)) {
    causes.push(notSupported(`${path}.type`, type, types));
  }
  if (uniqueItems) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbiddenValue(`${path}.uniqueItems`, text));
  }
  if (values !== undefined && values !== true && Object.keys(properties).length > 0) {
    const text = 'additionalProperties and properties are mutual exclusive';
    causes.push(forbiddenValue(`${path}.additionalProperties`, text));
  }
  return causes;
}

function mapTypeCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const causes: Cause[] = [];
  const { type = '' } = schema;
  if (type !== 'object') {
    const [field, text] = [`${path}.type`, 'must be object if x-kubernetes-map-type is specified'];
    causes.push(type === '' ? required(field, text) : invalidValue(field, type, text));
  }
  if (mapType !== 'atomic' && mapType !== 'granular') {
    const field = `${path}.x-kubernetes-map-type`;
    causes.push(notSupported(field, mapType, ['atomic', 'granular']));
  }
  return causes;
}

// Checks that the default of a schema is a value that the schema allows.

/** The faults in the default of a schema at `path`. */
function validateDefault(schema: JsonSchema, path: string): readonly Cause[] {
  const { default: given } = schema;
  if (given === undefined || given === null) return [];
  const unknown: string[] = [];
  const field = `${path}.default`;
  // The value unchanged: defaults within it are filled in for objects, not here.
  readValue(schema, given, '', { defaults: false, unknown });
  const value = sortedCopy(given);
  const text = 'must not have unknown fields';
  return [
    ...(unknown.length > 0 ? [invalidValue(field, value, text)] : []),
    ...valueCauses(schema, value, field),
  ];
}

function valueCauses(schema: JsonSchema, value: Json, field: string): readonly Cause[] {
  const at = (cause: Cause): Cause => {
    const isHere = !cause.field || cause.field === '<nil>';
    return { ...cause, field: isHere ? field : `${field}.${cause.field}` };
  };
  const embedded = embeddedCauses(schema, value, field);
  if (embedded.length > 0) return embedded;
  const causes = validateValue(schema, value, '').map(at);
  if (causes.length > 0) return causes;
  const errors: RuleError[] = [];
  const rules = compileRules(schema, errors, '', false);
  const unusable = errors
    .filter(({ path: place, member }) => place === '' && member === 'rule')
    .map(({ error }) => invalidValue(field, schema.type ?? '', `rule compile error: ${error}`));
  if (!rules) return unusable;
  // Judges the default both as an unchanged value and as a new one.
  const kept = judge(rules, value, '', value);
  const broken = kept.length > 0 ? kept : judge(rules, value, '');
  return [...unusable, ...broken.map(at)];
}
