// Checks that objects within a custom resource say of which kind they are.
import type { Cause, Json, KubeObject } from '@taintmgr/sim-cluster/server';
import {
  invalidValue,
  isList,
  isObject,
  labelErrors1035,
  required,
  validateEmbeddedMetadata,
} from '@taintmgr/sim-cluster/server';
import { itemsSchema, type JsonSchema, joined, memberSchema } from './json-schema.ts';

/** The faults in the embedded resources of a value. */
export function embeddedCauses(
  schema: JsonSchema | null,
  value: Json,
  path: string,
): readonly Cause[] {
  if (!schema) return [];
  if (isList(value)) {
    const items = itemsSchema(schema);
    return value.flatMap((item, index) => embeddedCauses(items, item, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] ? objectCauses(value, path) : [];
  const below = Object.entries(value).flatMap(([name, member]) =>
    embeddedCauses(memberSchema(schema, name), member, joined(path, name)),
  );
  return [...own, ...below];
}

function objectCauses(object: { readonly [key: string]: Json }, path: string): readonly Cause[] {
  const { apiVersion, kind, metadata } = object;
  return [
    ...textCauses(apiVersion, `${path}.apiVersion`, versionErrors),
    ...textCauses(kind, `${path}.kind`, kindErrors),
    ...(isObject(metadata)
      ? validateEmbeddedMetadata(object as unknown as KubeObject, `${path}.metadata`)
      : []),
  ];
}

function textCauses(
  value: Json | undefined,
  field: string,
  errors: (text: string) => readonly string[],
): readonly Cause[] {
  if (value === undefined) return [required(field)];
  if (typeof value !== 'string') return [invalidValue(field, value, 'must be a string')];
  if (value === '') return [invalidValue(field, value, 'must not be empty')];
  return errors(value).map((error) => invalidValue(field, value, error));
}

function versionErrors(text: string): readonly string[] {
  return text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];
}

function kindErrors(text: string): readonly string[] {
  return labelErrors1035(text.toLowerCase()).map(
    (error) => `may have mixed case, but should otherwise match: ${error}`,
  );
}
