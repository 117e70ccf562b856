// Checks that the schema of a definition is structural: every value has a type, and keywords that
// restrict values describe none.
import {
  type Cause,
  equal,
  forbiddenValue,
  invalidValue,
  required,
} from '@taintmgr/sim-cluster/server';
import { goRegExp } from '../cel/regular-expression.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';

// Checks schemas within allOf, anyOf, oneOf and not: they restrict values, and describe nothing.

const empty = 'must be empty to be structural';
const undefinedText = 'must be undefined to be structural';
const falseText = 'must be false to be structural';

/** The keywords that a restricting schema may not have, and the messages. */
const forbidden: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', empty],
  ['additionalProperties', undefinedText],
  ['default', undefinedText],
  ['title', empty],
  ['description', empty],
  ['nullable', falseText],
  ['x-kubernetes-preserve-unknown-fields', falseText],
  ['x-kubernetes-embedded-resource', falseText],
  ['x-kubernetes-int-or-string', falseText],
  ['x-kubernetes-list-map-keys', empty],
  ['x-kubernetes-list-type', undefinedText],
  ['x-kubernetes-map-type', undefinedText],
  ['x-kubernetes-validations', empty],
];

/** The two ways in which an int-or-string may say its types again. */
const bothTypes = [{ type: 'integer' }, { type: 'string' }];

/** Schemas within others, `path` being that of the outer one. */
function validateNested(schema: JsonSchema, path: string): readonly Cause[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const saysTypes = (list: readonly JsonSchema[] | undefined): boolean =>
    equal((list ?? []) as never, bothTypes as never);
  return [
    ...(saysTypes(anyOf)
      ? []
      : anyOf.flatMap((part, index) => innerCauses(part, `${path}.anyOf[${index}]`))),
    ...allOf.flatMap((part, index) => {
      const isTypes = index === 0 && saysTypes(part.anyOf);
      const { anyOf: _types, ...rest } = part;
      return innerCauses(isTypes ? rest : part, `${path}.allOf[${index}]`);
    }),
    ...oneOf.flatMap((part, index) => innerCauses(part, `${path}.oneOf[${index}]`)),
    ...(not ? innerCauses(not, `${path}.not`) : []),
  ];
}

function innerCauses(part: JsonSchema, path: string): readonly Cause[] {
  const items = itemsSchema(part);
  const own = forbidden.flatMap(([member, text]) => {
    const value = part[member];
    const isSaid = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
    return isSaid && value !== false ? [forbiddenValue(`${path}.${member}`, text)] : [];
  });
  const metadata = Object.hasOwn(part.properties ?? {}, 'metadata')
    ? [forbiddenValue(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
    : [];
  return [
    ...validateNested(part, path),
    ...(items ? innerCauses(items, `${path}.items`) : []),
    ...Object.entries(part.properties ?? {}).flatMap(([name, inner]) =>
      innerCauses(inner, `${path}.properties[${name}]`),
    ),
    ...own,
    ...metadata,
  ];
}

const scalarRoot = ['apiVersion', 'kind'] as const;

/** The non-structural parts of the schema of one version at `path`. */
export function validateStructure(schema: JsonSchema, path: string): readonly Cause[] {
  return [...rootCauses(schema, path), ...partCauses(schema, path, 'root')];
}

function rootCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (!schema.type) causes.push(required(`${path}.type`, 'must not be empty at the root'));
  else if (schema.type !== 'object') {
    causes.push(invalidValue(`${path}.type`, schema.type, 'must be object at the root'));
  }
  for (const name of scalarRoot) {
    const type = schema.properties?.[name]?.type;
    if (type && type !== 'string') {
      causes.push(invalidValue(`${path}.properties[${name}].type`, type, 'must be string'));
    }
  }
  if (schema.additionalProperties !== undefined) {
    causes.push(forbiddenValue(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  const metadata = schema.properties?.metadata;
  if (metadata?.type && metadata.type !== 'object') {
    const text = 'must be object';
    causes.push(invalidValue(`${path}.properties[metadata].type`, metadata.type, text));
  } else if (
    Object.keys(metadata?.properties ?? {}).some(
      (name) => name !== 'name' && name !== 'generateName',
    )
  ) {
    const text =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    causes.push(forbiddenValue(`${path}.properties[metadata]`, text));
  }
  return causes;
}

type Level = 'root' | 'field' | 'item';

function partCauses(schema: JsonSchema, path: string, level: Level): readonly Cause[] {
  const isRoot = level === 'root';
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    isRoot && (name === 'metadata' || scalarRoot.some((known) => known === name))
      ? []
      : partCauses(inner, `${path}.properties[${name}]`, 'field'),
  );
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  return [
    ...(isRoot ? [] : typeCauses(schema, path, level)),
    ...patternCauses(schema, path),
    ...extensionCauses(schema, path),
    ...validateNested(schema, path),
    ...below,
    ...(values ? partCauses(values, `${path}.additionalProperties`, 'field') : []),
    ...(items ? partCauses(items, `${path}.items`, 'item') : []),
  ];
}

function patternCauses({ pattern }: JsonSchema, path: string): readonly Cause[] {
  const compiled = pattern === undefined ? {} : goRegExp(pattern);
  if (!('error' in compiled)) return [];
  const text = `must be a valid regular expression, but isn't: ${compiled.error}`;
  return [invalidValue(`${path}.pattern`, pattern, text)];
}

function typeCauses(schema: JsonSchema, path: string, level: Level): readonly Cause[] {
  const { type = '' } = schema;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    const field = `${path}.type`;
    return [type === '' ? required(field, text) : invalidValue(field, type, text)];
  }
  if (type === '') {
    const isFree =
      schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
    if (isFree) return [];
    const what = level === 'item' ? 'array items' : 'object fields';
    return [required(`${path}.type`, `must not be empty for specified ${what}`)];
  }
  if (type !== 'array' || schema.items) return [];
  return [required(`${path}.items`, 'must be specified')];
}

function extensionCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const name of ['preserve-unknown-fields', 'embedded-resource'] as const) {
    if (!schema['x-kubernetes-int-or-string'] || !schema[`x-kubernetes-${name}`]) continue;
    const text = 'must be false if x-kubernetes-int-or-string is true';
    causes.push(invalidValue(`${path}.x-kubernetes-${name}`, true, text));
  }
  if (!schema['x-kubernetes-embedded-resource']) return causes;
  if (schema.additionalProperties) {
    const text = 'must not be used if x-kubernetes-embedded-resource is set';
    causes.push(forbiddenValue(`${path}.additionalProperties`, text));
  }
  if (!schema.properties && !schema['x-kubernetes-preserve-unknown-fields']) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    causes.push(required(`${path}.properties`, text));
  }
  return causes;
}
