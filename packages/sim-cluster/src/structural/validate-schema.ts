// Whether the schema of a definition is structural, and whether its own values make sense.
import type { Cause } from '../objects/errors.ts';
import { goRegExp } from '../objects/regular-expression.ts';
import { forbiddenValue, invalidValue, notSupported, required } from '../validation/causes.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';
import { validateDefault } from './validate-default.ts';
import { validateListKeys } from './validate-list-keys.ts';
import { validateNested } from './validate-nested.ts';
import { validateRules } from './validate-rules.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const;
const scalarRoot = ['apiVersion', 'kind'] as const;

/** What is wrong with the schema of one version, `path` being where it stands. */
export function validateSchema(schema: JsonSchema, path: string): readonly Cause[] {
  const causes = [
    ...rootCauses(schema, path),
    ...partCauses(schema, path, 'root'),
    ...listCauses(schema, path),
  ];
  // Rules are compiled where the schema says which types there are.
  return causes.length > 0 ? causes : validateRules(schema, path);
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
  if (schema.nullable) {
    causes.push(forbiddenValue(`${path}.nullable`, 'nullable cannot be true at the root'));
  }
  if (schema.additionalProperties !== undefined) {
    causes.push(forbiddenValue(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  for (const name of ['apiVersion', 'kind', 'metadata']) {
    causes.push(
      ...topDefaultCauses(schema.properties?.[name], `${path}.properties[${name}]`, name),
    );
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

type Level = 'root' | 'field' | 'item';

function partCauses(schema: JsonSchema, path: string, level: Level): readonly Cause[] {
  const isRoot = level === 'root';
  const own = [
    ...unsupportedCauses(schema, path),
    ...(isRoot ? [] : typeCauses(schema, path, level)),
    ...extensionCauses(schema, path),
    ...validateNested(schema, path),
    ...validateDefault(schema, path),
  ];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    isRoot && (name === 'metadata' || scalarRoot.some((known) => known === name))
      ? []
      : partCauses(inner, `${path}.properties[${name}]`, 'field'),
  );
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  return [
    ...own,
    ...below,
    ...(values ? partCauses(values, `${path}.additionalProperties`, 'field') : []),
    ...(items ? partCauses(items, `${path}.items`, 'item') : []),
  ];
}

/** Lists come after everything else, as the real server has it. */
function listCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  return [
    ...validateListKeys(schema, path),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      listCauses(inner, `${path}.properties[${name}]`),
    ),
    ...(values ? listCauses(values, `${path}.additionalProperties`) : []),
    ...(items ? listCauses(items, `${path}.items`) : []),
  ];
}

const unsupported = [
  'id',
  'additionalItems',
  '$ref',
  'definitions',
  'dependencies',
  'patternProperties',
] as const;

function unsupportedCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const member of unsupported) {
    if (Object.hasOwn(schema, member) && schema[member] !== '') {
      causes.push(forbiddenValue(`${path}.${member}`, `${member} is not supported`));
    }
  }
  if (schema.uniqueItems) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbiddenValue(`${path}.uniqueItems`, text));
  }
  const { additionalProperties: values, properties = {} } = schema;
  if (values !== undefined && values !== true && Object.keys(properties).length > 0) {
    const text = 'additionalProperties and properties are mutual exclusive';
    causes.push(forbiddenValue(`${path}.additionalProperties`, text));
  }
  const compiled = schema.pattern === undefined ? {} : goRegExp(schema.pattern);
  if ('error' in compiled) {
    const text = `must be a valid regular expression, but isn't: ${compiled.error}`;
    causes.push(invalidValue(`${path}.pattern`, schema.pattern, text));
  }
  return causes;
}

function typeCauses(schema: JsonSchema, path: string, level: Level): readonly Cause[] {
  const { type = '' } = schema;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    const field = `${path}.type`;
    return [type === '' ? required(field, text) : invalidValue(field, type, text)];
  }
  const isFree =
    schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  if (type === '') {
    if (isFree || schema.$ref !== undefined) return [];
    const what = level === 'item' ? 'array items' : 'object fields';
    return [required(`${path}.type`, `must not be empty for specified ${what}`)];
  }
  if (!types.some((known) => known === type)) return [notSupported(`${path}.type`, type, types)];
  if (type !== 'array') return [];
  if (Array.isArray(schema.items)) {
    return [forbiddenValue(`${path}.items`, 'items must be a schema object and not an array')];
  }
  return schema.items ? [] : [required(`${path}.items`, 'must be specified')];
}

function extensionCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  const at = (name: string): string => `${path}.x-kubernetes-${name}`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    causes.push(invalidValue(at('preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  for (const name of ['preserve-unknown-fields', 'embedded-resource'] as const) {
    if (!schema['x-kubernetes-int-or-string'] || !schema[`x-kubernetes-${name}`]) continue;
    const text = 'must be false if x-kubernetes-int-or-string is true';
    causes.push(invalidValue(at(name), true, text));
  }
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined && schema.type !== 'object') {
    const text = 'must be object if x-kubernetes-map-type is specified';
    const { type = '' } = schema;
    causes.push(
      type === '' ? required(`${path}.type`, text) : invalidValue(`${path}.type`, type, text),
    );
  }
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    causes.push(notSupported(at('map-type'), mapType, ['atomic', 'granular']));
  }
  const isEmbedded = schema['x-kubernetes-embedded-resource'];
  if (isEmbedded && schema.additionalProperties) {
    const text = 'must not be used if x-kubernetes-embedded-resource is set';
    causes.push(forbiddenValue(`${path}.additionalProperties`, text));
  }
  if (isEmbedded && !schema.properties && !schema['x-kubernetes-preserve-unknown-fields']) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    causes.push(required(`${path}.properties`, text));
  }
  return causes;
}
