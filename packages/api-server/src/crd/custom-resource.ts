// Makes the resources that a CustomResourceDefinition stands for, one for each version.

import {
  apiVersionOf,
  type Cause,
  type Column,
  type Decoded,
  DecodeError,
  decode,
  defineResource,
  entry,
  type FieldLabels,
  finalizerWarnings,
  internalError,
  invalidValue,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  objectMeta,
  type Printer,
  type Resource,
  type ScaleAccess,
  scaleSubresource,
  sortedCopy,
  statusSubresource,
  struct,
  validateExtensionMetadata,
} from '@taintmgr/sim-cluster/server';
import { byPriority } from '../discovery/documents.ts';
import type {
  Definition,
  DefinitionVersion,
  PrinterColumn,
  ScalePaths,
} from '../structural/definition.ts';
import { embeddedCauses } from '../structural/embedded.ts';
import { findAll, parsePath } from '../structural/json-path.ts';
import { type JsonSchema, memberSchema } from '../structural/json-schema.ts';
import { readValue } from '../structural/read.ts';
import { compileRules, judge } from '../structural/rules.ts';
import { isInteger } from '../structural/scalars.ts';
import { shapeOf } from '../structural/shape.ts';
import { duplicateCauses, noField, validateValue } from '../structural/validate.ts';
import { age, dateColumn, nameColumn } from '../table/columns.ts';
import { since } from '../table/duration.ts';

// Reads JSON as a custom resource: metadata as of every kind, the rest by the schema, all sorted.

const justMetadata = struct('ObjectMeta', { metadata: objectMeta });

/** A whole custom resource. Throws DecodeError or TimeError for metadata of a wrong type. */
function readCustom(schema: JsonSchema, given: unknown, defaults: boolean): Decoded {
  if (!isObject(given)) throw new DecodeError('json: cannot unmarshal into an object');
  const { apiVersion = '', kind = '', metadata, ...rest } = given;
  const own = decode(justMetadata, { metadata: metadata ?? {} });
  const unknown: string[] = [];
  const read = readValue(partOf(schema), rest, '', { defaults, unknown });
  const value: JsonObject = {
    ...(read as JsonObject),
    apiVersion,
    kind,
    metadata: sortedCopy(own.value.metadata as Json),
  };
  const sorted = Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, value[name]]),
  );
  return { value: sorted as JsonObject, unknown: [...unknown, ...own.unknown] };
}

const parts = new WeakMap<JsonSchema, JsonSchema>();

/** The schema does not read the fields that every kind has. */
function partOf(schema: JsonSchema): JsonSchema {
  let part = parts.get(schema);
  if (!part) {
    const { apiVersion: _v, kind: _k, metadata: _m, ...properties } = schema.properties ?? {};
    part = { ...schema, properties };
    parts.set(schema, part);
  }
  return part;
}

// Custom resources say how many pods they want and have where their definition says.

/** The scale of a custom resource. */
function customScale(paths: ScalePaths): ScaleAccess {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = paths;
  return {
    read: (object) => {
      const wanted = at(object, stepsOf(specReplicasPath));
      if (typeof wanted !== 'number') {
        throw internalError(`the spec replicas field "${specReplicasPath}" does not exist`);
      }
      const there = at(object, stepsOf(statusReplicasPath));
      const selector = labelSelectorPath ? at(object, stepsOf(labelSelectorPath)) : '';
      return {
        wanted,
        there: typeof there === 'number' ? there : 0,
        selector: typeof selector === 'string' ? selector : '',
      };
    },
    withReplicas: (object, replicas) =>
      put(object, stepsOf(specReplicasPath), replicas) as unknown as KubeObject,
  };
}

/** The paths are names with dots between them. */
const stepsOf = (path: string): readonly string[] => path.split('.').slice(1);

function at(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (here, step) => (isObject(here) ? entry(here, step) : undefined),
    value,
  );
}

function put(value: unknown, [step = '', ...rest]: readonly string[], set: Json): JsonObject {
  const object = isObject(value) ? value : {};
  return { ...object, [step]: rest.length === 0 ? set : put(entry(object, step), rest, set) };
}

// Checks that a custom resource is scaled by numbers of replicas.

/** The scale subresource of a version; null for none. */
type Scale = NonNullable<NonNullable<DefinitionVersion['subresources']>['scale']> | null;

const replicasMax = 2 ** 31 - 1;

/**
 * The faults in the desired replicas of an object or, for a write of its status, in the current
 * ones.
 */
function scaleCauses(scale: Scale, object: KubeObject, isStatus: boolean): readonly Cause[] {
  const path = isStatus ? scale?.statusReplicasPath : scale?.specReplicasPath;
  if (!path) return [];
  let value: Json | undefined = object;
  for (const name of path.split('.').slice(1)) value = isObject(value) ? value[name] : undefined;
  if (typeof value !== 'number' || !isInteger(value)) return [];
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  if (value <= replicasMax) return [];
  return [invalidValue(path, value, `should be less than or equal to ${replicasMax}`)];
}

// The schema of a custom resource as OpenAPI documents show it.

const convention =
  'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** The fields that every kind has, as the real server describes them. */
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
function kindSchema(schema: JsonSchema): JsonObject {
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
  // An object that already had duplicates may keep them, and add more.
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

/**
 * The real server validates the status separately, and names its fields as if the status were the
 * root.
 */
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

/** The cluster's own rules validate the metadata. */
function withoutMetadata(schema: JsonSchema): JsonSchema {
  const { metadata: _metadata, ...properties } = schema.properties ?? {};
  const required = (schema.required ?? []).filter((name) => name !== 'metadata');
  return { ...schema, properties, required };
}

// Tables of custom resources.

/** Name and the columns given; without any, name and age. */
function customPrinter(columns: readonly PrinterColumn[]): Printer {
  if (columns.length === 0) {
    return {
      columns: [nameColumn, dateColumn],
      cells: (object, now) => [object.metadata.name, age(object, now)],
    };
  }
  const read = columns.map((column) => {
    const steps = parsePath(column.jsonPath) ?? [];
    return (object: KubeObject, now: number): Json => {
      const [first] = findAll(steps, object);
      return first === undefined || first === null ? null : cellOf(column.type, first, now);
    };
  });
  return {
    columns: [nameColumn, ...columns.map(columnOf)],
    cells: (object, now) => [object.metadata.name, ...read.map((cell) => cell(object, now))],
  };
}

function columnOf({ name, type, format, description, priority, jsonPath }: PrinterColumn): Column {
  const stated = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return {
    name,
    type: type as Column['type'],
    format: format ?? '',
    description: description || stated,
    priority: priority ?? 0,
  };
}

/** A value that does not fit its column is not shown. */
function cellOf(type: string, value: Json, now: number): Json {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : since(value, now);
    }
    default:
      return isList(value) || isObject(value) ? JSON.stringify(value) : String(value);
  }
}
