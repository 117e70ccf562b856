// The resource of CustomResourceDefinitions.

import {
  defineResource,
  type Resource,
  statusSubresource,
  validateExtensionMetadata,
} from '@taintmgr/sim-cluster/server';
import { validateDefinition, validateDefinitionUpdate } from '../structural/validate-definition.ts';
import { definitionWarnings } from '../structural/warnings.ts';
import {
  admitDefinition,
  deriveDefinition,
  establishedDefinition,
  markDefinitionDeleted,
} from './definition-defaults.ts';
import { customResourceDefinition } from './definition-schema.ts';

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
