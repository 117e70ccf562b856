// Whether the schema of a definition is structural, and whether its own values make sense.
import type { Cause } from '../objects/errors.ts';
import { goRegExp } from '../objects/regular-expression.ts';
import { forbiddenValue, invalidValue, notSupported, required } from '../validation/causes.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';
import { readValue } from './read.ts';
import { validateValue } from './validate.ts';
import { validateListKeys } from './validate-list-keys.ts';
import { validateRules } from './validate-rules.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const;
const scalarRoot = ['apiVersion', 'kind'] as const;

/** What is wrong with the schema of one version, `path` being where it stands. */
export function validateSchema(schema: JsonSchema, path: string): readonly Cause[] {
  const causes = [
    ...rootCauses(schema, path),
    ...partCauses(schema, path, true),
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

function partCauses(schema: JsonSchema, path: string, isRoot: boolean): readonly Cause[] {
  const own = [
    ...unsupportedCauses(schema, path),
    ...(isRoot ? [] : typeCauses(schema, path)),
    ...extensionCauses(schema, path),
    ...combinationCauses(schema, path),
    ...defaultCauses(schema, path),
  ];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    isRoot && (name === 'metadata' || scalarRoot.some((known) => known === name))
      ? []
      : partCauses(inner, `${path}.properties[${name}]`, false),
  );
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  return [
    ...own,
    ...below,
    ...(values ? partCauses(values, `${path}.additionalProperties`, false) : []),
    ...(items ? partCauses(items, `${path}.items`, false) : []),
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

function unsupportedCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const member of ['$ref', 'definitions', 'dependencies', 'patternProperties'] as const) {
    if (schema[member] !== undefined) {
      causes.push(forbiddenValue(`${path}.${member}`, `${member} is not supported`));
    }
  }
  if (schema.uniqueItems) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbiddenValue(`${path}.uniqueItems`, text));
  }
  if (schema.additionalProperties && schema.properties) {
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

function typeCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const { type = '' } = schema;
  const isFree =
    schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  if (type === '') {
    if (isFree || schema.$ref !== undefined) return [];
    return [required(`${path}.type`, 'must not be empty for specified object fields')];
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
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    causes.push(notSupported(at('map-type'), mapType, ['atomic', 'granular']));
  }
  const isEmbedded = schema['x-kubernetes-embedded-resource'];
  if (isEmbedded && !schema.properties && !schema['x-kubernetes-preserve-unknown-fields']) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    causes.push(required(`${path}.properties`, text));
  }
  return causes;
}

/** Within allOf, anyOf, oneOf and not only values are restricted. */
function combinationCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const anyTypes = (schema.anyOf ?? []).map(({ type }) => type).join(' ');
  const isIntOrString =
    schema['x-kubernetes-int-or-string'] === true || anyTypes === 'integer string';
  const inner = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((word) =>
    (schema[word] ?? []).map((part, index) => ({ part, place: `${path}.${word}[${index}]` })),
  );
  const all = schema.not ? [...inner, { part: schema.not, place: `${path}.not` }] : inner;
  const text = 'must be empty to be structural';
  return all.flatMap(({ part, place }) => [
    ...(part.type && !isIntOrString ? [forbiddenValue(`${place}.type`, text)] : []),
    ...(part.default !== undefined ? [forbiddenValue(`${place}.default`, text)] : []),
    ...(part.description ? [forbiddenValue(`${place}.description`, text)] : []),
    ...(part.nullable ? [forbiddenValue(`${place}.nullable`, text)] : []),
  ]);
}

function defaultCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const { default: given } = schema;
  if (given === undefined) return [];
  const unknown: string[] = [];
  const field = `${path}.default`;
  const read = readValue(schema, given, '', { defaults: true, unknown });
  if (unknown.length > 0) return [invalidValue(field, given, 'must not have unknown fields')];
  return validateValue(schema, read, '').map((cause) => ({
    ...cause,
    field: cause.field ? `${field}.${cause.field}` : field,
  }));
}
