// A schema as a CustomResourceDefinition has it: structural, of OpenAPI v3.
import { filled } from './fill.ts';
import { resolved } from './resolved.ts';
import { celOf } from './rules.ts';
import type { Rule, Schema } from './schema.ts';

export type OpenApi = Readonly<Record<string, unknown>>;

export function openApiOf(schema: Schema): OpenApi {
  const { rules, ...meant } = resolved(schema);
  return {
    ...shapeOf(meant),
    // Whole, since an API server judges a default before it fills in those within it.
    ...('default' in meant && { default: filled(meant, meant.default, [], []) }),
    ...(rules && { 'x-kubernetes-validations': rules.map(ruleOf) }),
  };
}

function shapeOf(schema: ReturnType<typeof resolved>): OpenApi {
  switch (schema.type) {
    case 'integerOrString': {
      const { type: _, ...others } = schema;
      return { ...others, 'x-kubernetes-int-or-string': true };
    }
    case 'array': {
      const { items, mapKeys, ...others } = schema;
      const owners = mapKeys
        ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': mapKeys }
        : { 'x-kubernetes-list-type': 'atomic' };
      return { ...others, ...owners, items: openApiOf(items) };
    }
    case 'map': {
      const { values, ...others } = schema;
      return { ...others, type: 'object', additionalProperties: openApiOf(values) };
    }
    case 'object': {
      const { properties, ...others } = schema;
      const members = Object.entries(properties).map(([name, each]) => [name, openApiOf(each)]);
      return { ...others, properties: Object.fromEntries(members) };
    }
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return { ...schema };
  }
}

function ruleOf(rule: Rule): OpenApi {
  const { fieldPath } = 'matches' in rule ? {} : rule;
  return { rule: celOf(rule), message: rule.message, ...(fieldPath && { fieldPath }) };
}
