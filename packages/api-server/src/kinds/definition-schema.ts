// The shape of CustomResourceDefinitions.
import type { Json } from '@taintmgr/sim-cluster/server';
import {
  always,
  condition,
  list,
  listBy,
  map,
  type Shape,
  type Struct,
  struct,
  topLevel,
} from '@taintmgr/sim-cluster/server';

const names = struct('CustomResourceDefinitionNames', {
  plural: 'string!',
  singular: 'string',
  shortNames: list('string'),
  kind: 'string!',
  listKind: 'string',
  categories: list('string'),
});

/** A schema holds schemas. Members are in the order in which Go writes them. */
const fields: Record<string, Shape> = {
  id: 'string',
  $schema: 'string',
  $ref: 'string*',
  description: 'string',
  type: 'string',
  format: 'string',
  title: 'string',
  default: 'any',
  maximum: 'number*',
  exclusiveMaximum: 'bool',
  minimum: 'number*',
  exclusiveMinimum: 'bool',
  maxLength: 'int64*',
  minLength: 'int64*',
  pattern: 'string',
  maxItems: 'int64*',
  minItems: 'int64*',
  uniqueItems: 'bool',
  multipleOf: 'number*',
  enum: list('json'),
  maxProperties: 'int64*',
  minProperties: 'int64*',
  required: list('string'),
  // Its place; what it is comes below.
  items: 'any',
};
const schemaProps: Struct = struct('JSONSchemaProps', fields);
const nested: Record<string, Shape> = {
  allOf: list(schemaProps),
  oneOf: list(schemaProps),
  anyOf: list(schemaProps),
  not: schemaProps,
  properties: { ...map(schemaProps), keptEmpty: true },
  items: {
    type: 'either',
    struct: schemaProps,
    name: 'JSONSchemaPropsOrArray',
    isOther: Array.isArray,
  },
  additionalProperties: {
    type: 'either',
    struct: schemaProps,
    name: 'JSONSchemaPropsOrBool',
    isOther: (value: Json) => typeof value === 'boolean',
  },
  patternProperties: map(schemaProps),
  dependencies: 'any',
  additionalItems: 'any',
  definitions: map(schemaProps),
  externalDocs: 'any',
  example: 'any',
  nullable: 'bool',
  'x-kubernetes-preserve-unknown-fields': 'bool*',
  'x-kubernetes-embedded-resource': 'bool',
  'x-kubernetes-int-or-string': 'bool',
  'x-kubernetes-list-map-keys': list('string'),
  'x-kubernetes-list-type': 'string*',
  'x-kubernetes-map-type': 'string*',
  'x-kubernetes-validations': listBy(
    'rule',
    struct('ValidationRule', {
      rule: 'string!',
      message: 'string',
      messageExpression: 'string',
      reason: 'string*',
      fieldPath: 'string',
      optionalOldSelf: 'bool*',
    }),
  ),
};
Object.assign(fields, nested);

const version = struct('CustomResourceDefinitionVersion', {
  name: 'string!',
  served: 'bool!',
  storage: 'bool!',
  deprecated: 'bool',
  deprecationWarning: 'string*',
  schema: struct('CustomResourceValidation', { openAPIV3Schema: schemaProps }),
  subresources: struct('CustomResourceSubresources', {
    status: struct('CustomResourceSubresourceStatus', {}),
    scale: struct('CustomResourceSubresourceScale', {
      specReplicasPath: 'string!',
      statusReplicasPath: 'string!',
      labelSelectorPath: 'string*',
    }),
  }),
  additionalPrinterColumns: list(
    struct('CustomResourceColumnDefinition', {
      name: 'string!',
      type: 'string!',
      format: 'string',
      description: 'string',
      priority: 'int32',
      jsonPath: 'string!',
    }),
  ),
  selectableFields: list(struct('SelectableField', { jsonPath: 'string!' })),
});

/** apiextensions.k8s.io/v1 CustomResourceDefinition. */
export const customResourceDefinition: Struct = topLevel('CustomResourceDefinition', {
  spec: always(
    struct('CustomResourceDefinitionSpec', {
      group: 'string!',
      names: always(names),
      scope: 'string!',
      versions: always(list(version)),
      conversion: struct('CustomResourceConversion', { strategy: 'string!', webhook: 'any' }),
      preserveUnknownFields: 'bool',
    }),
  ),
  status: always(
    struct('CustomResourceDefinitionStatus', {
      conditions: always(listBy('type', condition)),
      acceptedNames: always(names),
      storedVersions: always(list('string')),
    }),
  ),
});
