// The CustomResourceDefinitions of our kinds: structural schemas of OpenAPI v3.
import { type KindName, kindNames, policyGroup, policyKinds, policyVersion } from './kinds.ts';
import type { Kind, Rule, Schema } from './schema.ts';
import { celOf, filled } from './validation.ts';

/** A CustomResourceDefinition, as kubectl apply takes it. */
export interface CustomResourceDefinition {
  /** Kubernetes serves definitions in this version. */
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  /** The name, `PLURAL.taintmgr.dev`. */
  readonly metadata: { readonly name: string };
  /** Names, schema, columns and CEL rules of the kind. */
  readonly spec: OpenApi;
}

/** Returns the CustomResourceDefinition of each kind of taintmgr.dev. */
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

type OpenApi = Readonly<Record<string, unknown>>;

function openApiOf(schema: Schema): OpenApi {
  const { rules, ...meant } = schema;
  return {
    ...shapeOf(meant),
    // Whole, since an API server judges a default before it fills in those within it.
    ...('default' in meant && { default: filled(meant, meant.default, [], []) }),
    ...(rules && { 'x-kubernetes-validations': rules.map(ruleOf) }),
  };
}

function shapeOf(schema: Schema): OpenApi {
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
    case 'string': {
      const { unit: _, ...others } = schema;
      return others;
    }
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
