// The schema of a custom resource, as a CustomResourceDefinition holds it.

import type { Json } from '@taintmgr/sim-cluster/server';
import { entry, setOwn } from '@taintmgr/sim-cluster/server';

/** An entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A structural OpenAPI v3 schema. */
export interface JsonSchema {
  readonly id?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: Json;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly Json[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly patternProperties?: Json;
  readonly definitions?: Json;
  readonly additionalItems?: Json;
  readonly dependencies?: Json;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** The schema of the values that are not among the properties; null for none. */
export function valuesSchema({ additionalProperties: values }: JsonSchema): JsonSchema | null {
  return typeof values === 'object' ? values : null;
}

/** The schema of one member of an object; null for one that the schema does not know. */
export function memberSchema(schema: JsonSchema, name: string): JsonSchema | null {
  const { properties = {} } = schema;
  return (Object.hasOwn(properties, name) ? properties[name] : null) ?? valuesSchema(schema);
}

/** True if members that the schema does not know are kept. */
export function keepsUnknown(schema: JsonSchema): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
  );
}

/** The schema of the items of a list; null for none. A list of schemas is refused as not structural. */
export function itemsSchema({ items }: JsonSchema): JsonSchema | null {
  return items && !Array.isArray(items) ? items : null;
}

/** The path of a member as causes write it. */
export function joined(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`;
}

/** The keys of one item of a list of type map, defaults included. */
export function itemKeys(schema: JsonSchema, item: Json): { readonly [key: string]: Json } {
  const object = (typeof item === 'object' && item !== null ? item : {}) as {
    readonly [key: string]: Json;
  };
  const keys: Record<string, Json> = {};
  for (const name of [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort()) {
    const inner = entry(itemsSchema(schema)?.properties ?? {}, name);
    const value = entry(object, name) ?? inner?.default;
    if (value !== undefined) setOwn(keys, name, value);
  }
  return keys;
}
