// The CustomResourceDefinitions of our kinds.

import {
  type Kind,
  type KindName,
  kindNames,
  policyGroup,
  policyKinds,
  policyVersion,
} from './kinds.ts';
import { type OpenApi, openApiOf } from './open-api.ts';

/** A CustomResourceDefinition, as kubectl apply takes it. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: OpenApi;
}

/** Of each kind one. */
export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  return kindNames.map((name) => definitionOf(name, policyKinds[name]));
}

function definitionOf(name: KindName, kind: Kind): CustomResourceDefinition {
  const { plural, shortName, columns } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${policyGroup}` },
    spec: {
      group: policyGroup,
      scope: 'Cluster',
      names: {
        kind: name,
        listKind: `${name}List`,
        plural,
        singular: name.toLowerCase(),
        shortNames: [shortName],
        categories: ['taintmgr'],
      },
      versions: [
        {
          name: policyVersion,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schemaOf(kind) },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

function schemaOf({ description, spec, status }: Kind): OpenApi {
  const isRequired = spec !== null && spec.default === undefined;
  return {
    type: 'object',
    description,
    ...(isRequired && { required: ['spec'] }),
    properties: {
      ...(spec && { spec: openApiOf(spec) }),
      status: openApiOf(status),
    },
  };
}
