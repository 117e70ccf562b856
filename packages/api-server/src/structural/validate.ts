// Validates a value by its schema, in the words of the real server.
import {
  type Cause,
  duplicateValue,
  entry,
  equal,
  invalidValue,
  isList,
  isObject,
  type Json,
  notSupported,
  required,
  tooMany,
} from '@taintmgr/sim-cluster/server';
import { itemKeys, itemsSchema, type JsonSchema, joined, memberSchema } from './json-schema.ts';
import { formatOf, isInteger, validateScalar } from './scalars.ts';

/** The cause of a fault that has no field. */
export const noField = '<nil>';

/**
 * The faults in a value. A part that is unchanged from `previous` may stay, even where the schema
 * now refuses it.
 */
export function validateValue(
  schema: JsonSchema,
  value: Json,
  path: string,
  previous?: Json,
): readonly Cause[] {
  if (previous !== undefined && equal(value, previous)) return [];
  const own = [...typeCauses(schema, value, path), ...enumCauses(schema, value, path)];
  if (value === null) return own;
  // A value of the wrong type may be out of bounds too.
  return [
    ...own,
    ...validateScalar(schema, value, path),
    ...(isList(value) ? listCauses(schema, value, path, previous) : []),
    ...(isObject(value) ? objectCauses(schema, value, path, previous) : []),
    ...validateCombinations(schema, value, path, validateValue),
  ];
}

/** With a format, the real server accepts a list, and reports formats in place of types. */
function typeCauses(schema: JsonSchema, value: Json, path: string): readonly Cause[] {
  const wanted = schema['x-kubernetes-int-or-string'] ? 'integer,string' : (schema.type ?? '');
  if (wanted === '') return [];
  if (value === null && schema.nullable) return [];
  const found = typeOf(value);
  const types = wanted.split(',');
  const isNumeric = types.includes('integer') || types.includes('number');
  if (types.includes(found) || (wanted === 'number' && found === 'integer')) return [];
  const format = formatOf(schema);
  if (format === '' || value === null) return [typeInvalid(path, wanted, found)];
  if (typeof value !== 'string' && !isList(value)) {
    return [typeInvalid(path, format, goTypeOf(value))];
  }
  return isNumeric ? [typeInvalid(path, wanted, found)] : [];
}

/** The type of a number in Go; empty for all else. */
function goTypeOf(value: Json): string {
  if (typeof value !== 'number') return '';
  return isInteger(value) ? 'int64' : 'float64';
}

/** FieldValueTypeInvalid. */
function typeInvalid(path: string, wanted: string, shown: string): Cause {
  const text = `${path} in body must be of type ${wanted}: ${JSON.stringify(shown)}`;
  return { ...invalidValue(path, shown, text), reason: 'FieldValueTypeInvalid' };
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function enumCauses(schema: JsonSchema, value: Json, path: string): readonly Cause[] {
  const { enum: allowed = [] } = schema;
  if (allowed.length === 0 || allowed.some((choice) => equal(choice, value))) return [];
  const texts = allowed.map((choice) =>
    typeof choice === 'string' ? choice : JSON.stringify(choice),
  );
  return [notSupported(path, value, texts)];
}

function listCauses(
  schema: JsonSchema,
  list: readonly Json[],
  path: string,
  previous: Json | undefined,
): readonly Cause[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const items = itemsSchema(schema);
  const causes: Cause[] = [];
  if (list.length < minItems) {
    const text = `${path} in body should have at least ${minItems} items`;
    causes.push(invalidValue(path, list.length, text));
  }
  if (list.length > maxItems) causes.push(tooMany(path, list.length, maxItems));
  for (const [index, item] of list.entries()) {
    if (!items) break;
    const before = correlated(schema, item, previous);
    causes.push(...validateValue(items, item, `${path}[${index}]`, before));
  }
  return causes;
}

/** The item of an older list that an item continues; only lists of type map have such. */
export function correlated(
  schema: JsonSchema,
  item: Json,
  previous: Json | undefined,
): Json | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !isList(previous)) return undefined;
  const keys = itemKeys(schema, item);
  return previous.find((old) => equal(itemKeys(schema, old), keys));
}

function objectCauses(
  schema: JsonSchema,
  object: { readonly [key: string]: Json },
  path: string,
  previous: Json | undefined,
): readonly Cause[] {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const causes: Cause[] = [];
  const count = Object.keys(object).length;
  if (count < minProperties) {
    const text = `${path} in body should have at least ${minProperties} properties`;
    causes.push(invalidValue(path, count, text));
  }
  if (count > maxProperties) causes.push(tooMany(path, count, maxProperties));
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name)) causes.push(required(joined(path, name)));
  }
  for (const [name, value] of Object.entries(object)) {
    const inner = memberSchema(schema, name);
    if (!inner) continue;
    const before = isObject(previous) ? entry(previous, name) : undefined;
    causes.push(...validateValue(inner, value, joined(path, name), before));
  }
  return causes;
}

/** Items that lists of type set and map have twice. */
export function duplicateCauses(
  schema: JsonSchema | null,
  value: Json,
  path: string,
): readonly Cause[] {
  if (!schema) return [];
  if (isObject(value)) {
    const { properties = {} } = schema;
    return Object.entries(value).flatMap(([name, member]) => {
      const place = Object.hasOwn(properties, name) ? joined(path, name) : `${path}[${name}]`;
      return duplicateCauses(memberSchema(schema, name), member, place);
    });
  }
  if (!isList(value)) return [];
  const identities = value.map((item) => identityOf(schema, item));
  return value.flatMap((item, index) => {
    const identity = identities[index];
    const isRepeated =
      identity !== undefined && identities.slice(0, index).some((other) => equal(other, identity));
    const place = `${path}[${index}]`;
    const inner = duplicateCauses(itemsSchema(schema), item, place);
    return isRepeated ? [duplicateValue(place, identity), ...inner] : inner;
  });
}

function identityOf(schema: JsonSchema, item: Json): Json | undefined {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return item;
  return type === 'map' ? itemKeys(schema, item) : undefined;
}

// Judges values by allOf, anyOf, oneOf and not.

type Validate = (schema: JsonSchema, value: Json, path: string) => readonly Cause[];

/** The faults in a value by the combinations of its schema. */
function validateCombinations(
  schema: JsonSchema,
  value: Json,
  path: string,
  validate: Validate,
): readonly Cause[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const causes: Cause[] = [];
  const refuse = (text: string) =>
    causes.push(invalidValue('<nil>', '', `${JSON.stringify(path)} ${text}`));
  if (anyOf.length > 0) {
    const tried = anyOf.map((choice) => validate(choice, value, path));
    if (tried.every((found) => found.length > 0)) {
      refuse('must validate at least one schema (anyOf)');
      causes.push(...(tried[0] ?? []));
    }
  }
  if (oneOf.length > 0) {
    const tried = oneOf.map((choice) => validate(choice, value, path));
    const valid = tried.filter((found) => found.length === 0).length;
    const rule = 'must validate one and only one schema (oneOf).';
    if (valid === 0) {
      refuse(`${rule} Found none valid`);
      causes.push(...(tried[0] ?? []));
    }
    if (valid > 1) refuse(`${rule} Found ${valid} valid alternatives`);
  }
  const failed = allOf
    .map((part) => validate(part, value, path))
    .filter(({ length }) => length > 0);
  if (failed.length > 0) {
    const none = failed.length === allOf.length ? '. None validated' : '';
    refuse(`must validate all the schemas (allOf)${none}`);
    causes.push(...failed.flat());
  }
  if (not && validate(not, value, path).length === 0) {
    refuse('must not validate the schema (not)');
  }
  return causes;
}
