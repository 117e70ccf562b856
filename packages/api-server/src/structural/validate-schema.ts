// Whether the schema of a definition may be as it is.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { forbiddenValue, invalidValue, notSupported, required } from '@taintmgr/sim-cluster/server';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';
import { validateDefault } from './validate-default.ts';
import { validateListKeys } from './validate-list-keys.ts';
import { validateRuleForms, validateRules } from './validate-rules.ts';
import { validateStructure } from './validate-structure.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const;

/**
 * What is wrong with the schema of one version, `path` being where it stands. As on the real server,
 * defaults are looked at where the schema is structural, and rules where defaults are sound too.
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

/** Defaults of what every object has are the server's. */
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

/** What a check finds in a schema and all those within it. */
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
