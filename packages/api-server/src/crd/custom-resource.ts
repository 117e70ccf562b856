// Makes the resources that a CustomResourceDefinition stands for, one for each version.

import type { Cause, Decoded, FieldLabels, Json, KubeObject } from '@taintmgr/sim-cluster/server';
import {
  apiVersionOf,
  defineResource,
  finalizerWarnings,
  invalidValue,
  type Resource,
  scaleSubresource,
  statusSubresource,
  validateExtensionMetadata,
} from '@taintmgr/sim-cluster/server';
import { byPriority } from '../discovery/version-order.ts';
import type { Definition, DefinitionVersion } from '../structural/definition.ts';
import { embeddedCauses } from '../structural/embedded.ts';
import { findAll, parsePath } from '../structural/json-path.ts';
import { type JsonSchema, memberSchema } from '../structural/json-schema.ts';
import { compileRules, judge } from '../structural/rules.ts';
import { shapeOf } from '../structural/shape.ts';
import { duplicateCauses, noField, validateValue } from '../structural/validate.ts';
import { kindSchema } from './kind-schema.ts';
import { customPrinter } from './printer.ts';
import { readCustom } from './read-custom.ts';
import { customScale } from './scale-access.ts';
import { type Scale, scaleCauses } from './scale-values.ts';

/** The resources of a definition's served versions; none before its names are accepted. */
export function customResources(definition: Definition): readonly Resource[] {
  const versions = definition.spec.versions ?? [];
  const stored = versions.find(({ storage }) => storage);
  if (!stored) return [];
  const storage = customResource(definition, stored, null);
  return versions
    .filter(({ served }) => served)
    .map((version) =>
      version === stored ? storage : customResource(definition, version, storage),
    );
}

/** Under which name the objects of a definition are stored. */
export function storeKeyOf({ spec }: Definition): string {
  return `${spec.names.plural}.${spec.group}`;
}

function customResource(
  definition: Definition,
  version: DefinitionVersion,
  storage: Resource | null,
): Resource {
  const { spec, status, metadata } = definition;
  const names = status?.acceptedNames?.plural ? status.acceptedNames : spec.names;
  const { plural, kind } = spec.names;
  const schema: JsonSchema = version.schema?.openAPIV3Schema ?? {};
  const hasStatus = version.subresources?.status !== undefined;
  const scale = version.subresources?.scale ?? null;
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const read = (value: unknown, defaults: boolean): Decoded => readCustom(schema, value, defaults);
  const place = { group: spec.group, version: version.name };
  return defineResource({
    ...place,
    plural,
    kind,
    singular: names.singular ?? kind.toLowerCase(),
    listKind: names.listKind ?? `${kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    storeKey: storeKeyOf(definition),
    storage,
    schema: shapeOf(kind, schema),
    subresources: [...(hasStatus ? [statusSubresource] : []), ...(scale ? [scaleSubresource] : [])],
    generation: 'whole',
    unconditionalUpdate: false,
    deprecation: deprecationOf(definition, version),
    fieldLabels: fieldLabelsOf(version),
    printer: customPrinter(version.additionalPrinterColumns ?? []),
    admit: (object) => (hasStatus ? withoutStatus(object) : object),
    validate: validatorOf(schema, scale),
    view: viewOf(apiVersionOf(place), read),
    custom: {
      read,
      isTerminating,
      openApi: kindSchema(schema),
      scale: scale && customScale(scale),
    },
    warnings: finalizerWarnings,
  });
}

function withoutStatus({ status: _status, ...object }: KubeObject): KubeObject {
  return object as KubeObject;
}

/** Objects are stored as one version has them; each version shows them by its own schema. */
function viewOf(
  apiVersion: string,
  read: (value: unknown, defaults: boolean) => Decoded,
): NonNullable<Resource['view']> {
  const known = new WeakMap<KubeObject, KubeObject>();
  return {
    toStored: (object) => object,
    toView: (stored) => {
      const seen = known.get(stored);
      if (seen) return seen;
      const { value } = read({ ...stored, apiVersion }, true);
      // Metadata is the same in every version.
      const view: KubeObject = { ...value, metadata: stored.metadata };
      known.set(stored, view);
      return view;
    },
  };
}

function deprecationOf({ spec }: Definition, version: DefinitionVersion): string | null {
  const { deprecated, deprecationWarning, name } = version;
  if (!deprecated) return null;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const { group, names, versions } = spec;
  const [newest] = versions
    .filter((each) => each.served && !each.deprecated)
    .map((each) => each.name)
    .filter((each) => byPriority(each, name) < 0)
    .sort(byPriority);
  const instead = newest === undefined ? '' : `; use ${group}/${newest} ${names.kind}`;
  return `${group}/${name} ${names.kind} is deprecated${instead}`;
}

function fieldLabelsOf({ selectableFields = [] }: DefinitionVersion): FieldLabels {
  return Object.fromEntries(
    selectableFields.map(({ jsonPath }) => {
      const steps = parsePath(jsonPath) ?? [];
      const read = (object: KubeObject): string => {
        const [first = null] = findAll(steps, object);
        return first === null ? '' : String(first);
      };
      return [jsonPath.replace(/^\./, ''), read];
    }),
  );
}

/** Faults after which rules cannot be relied on. */
const blocking: readonly string[] = [
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
];
const uncheckedText =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function validatorOf(schema: JsonSchema, scale: Scale): Resource['validate'] {
  const rules = compileRules(schema, []);
  // Who has them already may keep them, and make more.
  const hadDuplicates = (old: Json | undefined): boolean =>
    old !== undefined && duplicateCauses(schema, old, '').length > 0;
  return (object, { previous, subresource } = {}) => {
    const { metadata: _own, ...value } = object;
    const { metadata: _old, ...before } = (previous ?? {}) as { readonly [key: string]: Json };
    const old = previous ? before : undefined;
    const found: Cause[] = [
      ...validateExtensionMetadata(object),
      ...(subresource === 'status'
        ? statusCauses(schema, value, old)
        : validateValue(withoutMetadata(schema), value, '', old)),
      ...scaleCauses(scale, object, subresource === 'status'),
      ...embeddedCauses(schema, value, ''),
      ...(hadDuplicates(old) ? [] : duplicateCauses(schema, value, '')),
    ];
    if (!rules) return found;
    if (found.some(({ reason = '' }) => blocking.includes(reason))) {
      return [...found, invalidValue(noField, null, uncheckedText)];
    }
    const whole = object;
    return [...found, ...judge(rules, whole, '', previous ?? undefined)];
  };
}

/** The real server looks at the status on its own, and names what is in it as if it were the root. */
function statusCauses(
  schema: JsonSchema,
  value: { readonly [key: string]: Json },
  old: { readonly [key: string]: Json } | undefined,
): readonly Cause[] {
  const inner = memberSchema(schema, 'status');
  if (!inner || value.status === undefined) return [];
  return validateValue(inner, value.status, '', old?.status).map((cause) => {
    const { field = '' } = cause;
    return field === noField ? cause : { ...cause, field: field ? `status.${field}` : 'status' };
  });
}

/** Metadata has rules of its own. */
function withoutMetadata(schema: JsonSchema): JsonSchema {
  const { metadata: _metadata, ...properties } = schema.properties ?? {};
  const required = (schema.required ?? []).filter((name) => name !== 'metadata');
  return { ...schema, properties, required };
}
