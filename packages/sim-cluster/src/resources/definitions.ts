// The resource of CustomResourceDefinitions.
import {
  admitDefinition,
  deriveDefinition,
  markDefinitionDeleted,
} from '../defaults/definition.ts';
import { customResourceDefinition } from '../schema/definition.ts';
import { validateDefinition, validateDefinitionUpdate } from '../structural/validate-definition.ts';
import { definitionWarnings } from '../structural/warnings.ts';
import { validateExtensionMetadata } from '../validation/metadata.ts';
import { defineResource, type Resource, statusSubresource } from './resource.ts';

/** Where definitions are stored. */
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
  markDeleted: markDefinitionDeleted,
  // The status may be anything; every later change of the definition then fails because of it.
  validate: (object, { subresource = '', previous } = {}) =>
    subresource === 'status'
      ? validateExtensionMetadata(object)
      : validateDefinition(object, previous ?? undefined),
  validateUpdate: validateDefinitionUpdate,
  warnings: definitionWarnings,
});
