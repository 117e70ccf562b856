// What a CustomResourceDefinition is warned of, and accepted with.
import type { KubeObject } from '@taintmgr/sim-cluster/server';
import type { Definition } from './definition.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';
import { formatOf } from './scalars.ts';

/** Formats that nobody checks for the type that has them. */
export function definitionWarnings(object: KubeObject): readonly string[] {
  const { spec } = object as Definition;
  const formats = new Set<string>();
  for (const { schema } of spec.versions ?? []) {
    if (schema?.openAPIV3Schema) gather(schema.openAPIV3Schema, formats);
  }
  return [...formats].sort().map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function gather(schema: JsonSchema, formats: Set<string>): void {
  const { format = '', allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (format !== '' && formatOf(schema) === '') formats.add(format);
  const inner = [itemsSchema(schema), valuesSchema(schema), not, ...allOf, ...anyOf, ...oneOf];
  for (const part of [...Object.values(schema.properties ?? {}), ...inner]) {
    if (part) gather(part, formats);
  }
}
