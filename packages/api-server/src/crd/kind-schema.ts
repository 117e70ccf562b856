// The schema of a custom resource as OpenAPI documents show it.

import type { Json } from '@taintmgr/sim-cluster/server';
import { isObject, type JsonObject } from '@taintmgr/sim-cluster/server';
import type { JsonSchema } from '../structural/json-schema.ts';

const convention =
  'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** What every kind has, as the real server describes it. */
const ofEveryKind: JsonObject = {
  apiVersion: {
    description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${convention}#resources`,
    type: 'string',
  },
  kind: {
    description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${convention}#types-kinds`,
    type: 'string',
  },
  metadata: {
    description: `Standard object's metadata. More info: ${convention}#metadata`,
    allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
  },
};

/** The given schema and what every kind has. */
export function kindSchema(schema: JsonSchema): JsonObject {
  const properties = { ...membersOf(schema.properties), ...ofEveryKind };
  return { ...membersOf(schema), properties: sorted(properties) };
}

/** A schema was read from JSON, and is some. */
function membersOf(value: unknown): { readonly [key: string]: Json } {
  return isObject(value) ? value : {};
}

function sorted(object: JsonObject): Json {
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name, object[name]]),
  ) as Json;
}
