// The resource of CustomResourceDefinitions.

import {
  always,
  condition,
  defineResource,
  type Json,
  list,
  listBy,
  map,
  type Resource,
  type Shape,
  type Struct,
  statusSubresource,
  struct,
  topLevel,
  validateExtensionMetadata,
} from '@taintmgr/sim-cluster/server';
import {
  definitionWarnings,
  validateDefinition,
  validateDefinitionUpdate,
} from '../structural/validate-definition.ts';
import {
  admitDefinition,
  deriveDefinition,
  establishedDefinition,
  markDefinitionDeleted,
} from './definition-defaults.ts';

// The shape of CustomResourceDefinitions.

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
  // The position of `items`; its shape follows below.
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
const customResourceDefinition: Struct = topLevel('CustomResourceDefinition', {
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

/** The store key of definitions. */
export const definitionsKey = 'customresourcedefinitions';

export const definitionResource: Resource = defineResource({
  group: 'apiextensions.k8s.io',
  plural: definitionsKey,
  kind: 'CustomResourceDefinition',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  schema: customResourceDefinition,
  subresources: [statusSubresource],
  generation: true,
  unconditionalUpdate: false,
  admit: admitDefinition,
  derive: deriveDefinition,
  load: establishedDefinition,
  markDeleted: markDefinitionDeleted,
  // The status may be anything; every later change of the definition then fails because of it.
  validate: (object, { subresource = '', previous } = {}) =>
    subresource === 'status'
      ? validateExtensionMetadata(object)
      : validateDefinition(object, previous ?? undefined),
  validateUpdate: validateDefinitionUpdate,
  warnings: definitionWarnings,
});
