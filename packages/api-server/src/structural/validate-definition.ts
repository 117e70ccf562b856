// Checks a CustomResourceDefinition.
import {
  type Cause,
  duplicateValue,
  equal,
  forbiddenValue,
  invalidValue,
  type KubeObject,
  labelErrors1035,
  notSupported,
  required,
  validateExtensionMetadata,
} from '@taintmgr/sim-cluster/server';
import {
  type Definition,
  type DefinitionNames,
  type DefinitionVersion,
  holds,
  type PrinterColumn,
} from './definition.ts';
import { parsePath } from './json-path.ts';
import { itemsSchema, type JsonSchema, memberSchema, valuesSchema } from './json-schema.ts';
import { formatOf } from './scalars.ts';
import { validateSchema } from './validate-schema.ts';

// The keywords allowed at the root of a schema with the status subresource. The status is validated
// separately there, so keywords about the whole object are not allowed.

const allowed = [
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength',
  'MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties',
  'ExternalDocs Example XPreserveUnknownFields XValidations',
].join(' ');
const text = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
const typeText =
  'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
const names: ReadonlySet<string> = new Set(allowed.split(' ').map((name) => name.toLowerCase()));

/** The faults in the root of a schema at `path`. */
export function validateRoot(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (schema.type && schema.type !== 'object') {
    causes.push(invalidValue(`${path}.type`, schema.type, typeText));
  }
  const isOther = ([member, value]: readonly [string, unknown]): boolean =>
    !names.has(goName(member)) && ![undefined, null, false, ''].includes(value as string);
  if (causes.length === 0 && Object.entries(schema).some(isOther)) {
    causes.push(invalidValue(path, schema, text));
  }
  return causes;
}

/** x-kubernetes-validations is XValidations. */
function goName(member: string): string {
  return member
    .replace(/^x-kubernetes-/, 'x')
    .replaceAll('-', '')
    .toLowerCase();
}

// Checks that printer columns and selectable fields name values that can be shown.

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'] as const;

const columnFormats: readonly string[] = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
];

/** The faults in printer columns; `path` is their parent. */
function validateColumns(columns: readonly PrinterColumn[], path: string): readonly Cause[] {
  return columns.flatMap(({ name, type, format, jsonPath }, index) => {
    const field = `${path}.additionalPrinterColumns[${index}]`;
    const causes: Cause[] = [];
    if (!name) causes.push(required(`${field}.name`));
    if (!type) {
      causes.push(required(`${field}.type`, `must be one of ${columnTypes.join(',')}`));
    } else if (!columnTypes.some((known) => known === type)) {
      causes.push(invalidValue(`${field}.type`, type, `must be one of ${columnTypes.join(',')}`));
    }
    if (format && !columnFormats.includes(format)) {
      const text = `must be one of ${columnFormats.join(',')}`;
      causes.push(invalidValue(`${field}.format`, format, text));
    }
    if (!jsonPath) causes.push(required(`${field}.JSONPath`));
    else if (!jsonPath.startsWith('.')) {
      const text = 'must be a simple json path starting with .';
      causes.push(invalidValue(`${field}.JSONPath`, jsonPath, text));
    }
    return causes;
  });
}

type Scale = NonNullable<DefinitionVersion['subresources']>['scale'];

/** The faults in the paths of the scale subresource. */
function validateScale(scale: Scale, path: string): readonly Cause[] {
  if (!scale) return [];
  const below = (member: string, value: string, ...roots: readonly string[]): readonly Cause[] => {
    const field = `${path}.subresources.scale.${member}`;
    if (!value) return [required(field)];
    if (!value.startsWith('.')) {
      return [invalidValue(field, value, 'must be a simple json path starting with .')];
    }
    if (roots.some((root) => value.startsWith(`${root}.`)) && parsePath(value)) return [];
    const where = roots.length > 1 ? `either ${roots.join(' or ')}` : roots.join();
    return [invalidValue(field, value, `should be a json path under ${where}`)];
  };
  const selector = scale.labelSelectorPath;
  return [
    ...below('specReplicasPath', scale.specReplicasPath, '.spec'),
    ...below('statusReplicasPath', scale.statusReplicasPath, '.status'),
    ...(selector ? below('labelSelectorPath', selector, '.spec', '.status') : []),
  ];
}

const selectableTypes: readonly string[] = ['string', 'boolean', 'integer'];

/** The faults in selectable fields; `path` is their parent. */
function validateSelectable(
  fields: readonly { readonly jsonPath: string }[],
  schema: JsonSchema,
  path: string,
): readonly Cause[] {
  return fields.flatMap(({ jsonPath }, index) => {
    const field = `${path}.selectableFields[${index}].jsonPath`;
    if (fields.slice(0, index).some((other) => other.jsonPath === jsonPath)) {
      return [duplicateValue(field, jsonPath)];
    }
    if (!jsonPath) return [required(field)];
    const found = schemaAt(schema, jsonPath);
    if (!found) {
      const [start = ''] = jsonPath.split(/[.[\]]/);
      const isNamed = start === '';
      const why = isNamed ? 'does not refer to a valid field' : `expected [ or . but got: ${start}`;
      return [invalidValue(field, jsonPath, `is an invalid path: ${why}`)];
    }
    if (selectableTypes.includes(found.type ?? '')) return [];
    const text =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    return [invalidValue(field, jsonPath, text)];
  });
}

function schemaAt(schema: JsonSchema, path: string): JsonSchema | null {
  const steps = path.startsWith('.') && !path.startsWith('.metadata') ? parsePath(path) : null;
  let here: JsonSchema | null = steps ? schema : null;
  for (const step of steps ?? []) {
    here = here && step.kind === 'member' ? memberSchema(here, step.name) : null;
  }
  return here;
}

const scopes = ['Cluster', 'Namespaced'] as const;

/** The rules for a definition, new or changed from `previous`. */
export function validateDefinition(object: KubeObject, previous?: KubeObject): readonly Cause[] {
  const definition = object as Definition;
  const { spec, metadata } = definition;
  const { names } = spec;
  const causes: Cause[] = [...validateExtensionMetadata(object)];
  if (!previous && metadata.name !== `${names?.plural ?? ''}.${spec.group ?? ''}`) {
    const text = 'must be spec.names.plural+"."+spec.group';
    causes.push(invalidValue('metadata.name', metadata.name, text));
  }
  causes.push(...groupCauses(definition));
  if (!spec.scope) causes.push(required('spec.scope'));
  else if (!scopes.some((scope) => scope === spec.scope)) {
    causes.push(notSupported('spec.scope', spec.scope, scopes));
  }
  causes.push(...versionsCauses(definition));
  causes.push(...namesCauses(names ?? { plural: '', kind: '' }));
  causes.push(...conversionCauses(definition));
  causes.push(...storedCauses(definition));
  return causes;
}

function groupCauses({ spec: { group = '' }, metadata }: Definition): readonly Cause[] {
  if (group === '') return [required('spec.group')];
  if (!group.includes('.')) {
    return [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
  }
  const approval = 'api-approved.kubernetes.io';
  const isProtected = /(^|\.)k8s\.io$|(^|\.)kubernetes\.io$/.test(group);
  if (!isProtected || metadata.annotations?.[approval]) return [];
  const text = `protected groups must have approval annotation "${approval}", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [required(`metadata.annotations[${approval}]`, text)];
}

function versionsCauses({ spec }: Definition): readonly Cause[] {
  const versions = spec.versions ?? [];
  const causes: Cause[] = [];
  const shown = spec.versions === null ? null : versions.map(goVersion);
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const text = 'must have exactly one version marked as storage version';
    causes.push(invalidValue('spec.versions', shown, text));
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    causes.push(invalidValue('spec.versions', shown, 'must contain unique version names'));
  }
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    for (const error of labelErrors1035(version.name ?? '')) {
      causes.push(invalidValue(`${field}.name`, version.name ?? '', error));
      // The message of older API versions.
      if (index === 0) causes.push(invalidValue('spec.version', version.name ?? '', error));
    }
    if (version.deprecationWarning !== undefined && !version.deprecated) {
      const text = 'can only be set for deprecated versions';
      causes.push(invalidValue(`${field}.deprecationWarning`, version.deprecationWarning, text));
    }
    if (Object.keys(version.schema?.openAPIV3Schema ?? {}).length === 0) {
      causes.push(required(`${field}.schema.openAPIV3Schema`));
    }
  }
  if (spec.preserveUnknownFields) {
    const text =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    causes.push(invalidValue('spec.preserveUnknownFields', true, text));
  }
  return [...causes, ...partsCauses(versions)];
}

/** A part that all versions share is reported once, in the form of older API versions. */
function partsCauses(versions: readonly DefinitionVersion[]): readonly Cause[] {
  const alike = (part: (version: DefinitionVersion) => unknown): boolean =>
    versions.every((version) =>
      equal(part(version) ?? null, part(versions[0] as DefinitionVersion) ?? null),
    );
  const schemas = alike(({ schema }) => schema);
  const subresources = alike((version) => version.subresources);
  const columns = alike(({ additionalPrinterColumns }) => additionalPrinterColumns);
  const selectable = alike(({ selectableFields }) => selectableFields);
  return versions.flatMap((version, index) => {
    const own = `spec.versions[${index}]`;
    const isFirst = index === 0;
    const schema = version.schema?.openAPIV3Schema ?? {};
    const schemaPath = schemas ? 'spec.validation' : `${own}.schema`;
    const isShown = (isFirst || !schemas) && Object.keys(schema).length > 0;
    const withStatus = (schemas ? versions : [version]).some((one) => one.subresources?.status);
    return [
      ...(isShown && withStatus ? validateRoot(schema, `${schemaPath}.openAPIV3Schema`) : []),
      ...(isShown ? validateSchema(schema, `${schemaPath}.openAPIV3Schema`) : []),
      ...(isFirst || !subresources
        ? validateScale(version.subresources?.scale, subresources ? 'spec' : own)
        : []),
      ...(isFirst || !columns
        ? validateColumns(version.additionalPrinterColumns ?? [], columns ? 'spec' : own)
        : []),
      ...(isFirst || !selectable
        ? validateSelectable(version.selectableFields ?? [], schema, selectable ? 'spec' : own)
        : []),
    ];
  });
}

/** A version as Go prints the server's own struct. */
function goVersion(version: DefinitionVersion): unknown {
  return {
    Name: version.name ?? '',
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function namesCauses(names: DefinitionNames): readonly Cause[] {
  const causes: Cause[] = [];
  const label = (member: string, value: string | undefined, text = ''): void => {
    const field = `spec.names.${member}`;
    if (!value) causes.push(required(field));
    for (const error of value ? labelErrors1035(text ? value.toLowerCase() : value) : []) {
      causes.push(invalidValue(field, value, `${text}${error}`));
    }
  };
  const mixedCase = 'may have mixed case, but should otherwise match: ';
  label('plural', names.plural);
  label('singular', names.singular);
  label('kind', names.kind, mixedCase);
  label('listKind', names.listKind, mixedCase);
  for (const [index, name] of (names.shortNames ?? []).entries())
    label(`shortNames[${index}]`, name);
  for (const [index, name] of (names.categories ?? []).entries())
    label(`categories[${index}]`, name);
  if (names.kind && names.kind === names.listKind) {
    const text = 'kind and listKind may not be the same';
    causes.push(invalidValue('spec.names.listKind', names.listKind, text));
  }
  return causes;
}

function conversionCauses({ spec: { conversion } }: Definition): readonly Cause[] {
  const strategy = conversion?.strategy ?? 'None';
  const webhook = conversion?.webhook as Webhook | undefined;
  const client = 'spec.conversion.webhookClientConfig';
  const versions = 'spec.conversion.conversionReviewVersions';
  if (strategy !== 'Webhook') {
    const unset = 'should not be set when strategy is not set to Webhook';
    const isKnown = strategy === 'None';
    return [
      ...(isKnown ? [] : [notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook'])]),
      ...(webhook?.clientConfig ? [forbiddenValue(client, unset)] : []),
      ...(webhook?.conversionReviewVersions?.length ? [forbiddenValue(versions, unset)] : []),
    ];
  }
  const text = 'required when strategy is set to Webhook';
  const given = webhook?.conversionReviewVersions ?? [];
  const isRead = given.some((version) => version === 'v1' || version === 'v1beta1');
  const unread = 'must include at least one of v1, v1beta1';
  return [
    ...(webhook?.clientConfig ? [] : [required(client, text)]),
    ...(given.length === 0 ? [required(versions)] : []),
    ...(given.length === 0 || isRead ? [] : [invalidValue(versions, given, unread)]),
  ];
}

interface Webhook {
  readonly clientConfig?: object;
  readonly conversionReviewVersions?: readonly string[];
}

function storedCauses({ spec, status }: Definition): readonly Cause[] {
  const stored = status?.storedVersions ?? [];
  const field = 'status.storedVersions';
  if (stored.length === 0) {
    return [invalidValue(field, null, 'must have at least one stored version')];
  }
  const names = (spec.versions ?? []).map(({ name }) => name);
  const causes = stored.flatMap((name, index) => {
    if (names.includes(name)) return [];
    const text = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalidValue(`${field}[${index}]`, name, text)];
  });
  const storage = (spec.versions ?? []).filter((version) => version.storage).at(-1)?.name;
  if (storage !== undefined && !stored.includes(storage)) {
    causes.push(invalidValue(field, stored, `must have the storage version ${storage}`));
  }
  return causes;
}

/**
 * The faults of a change to fields that are immutable once the names of a definition are accepted.
 */
export function validateDefinitionUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const [now, before] = [next as Definition, previous as Definition];
  if (!holds(before, 'Established')) return [];
  const fixed: readonly (readonly [string, unknown, unknown])[] = [
    ['spec.group', now.spec.group, before.spec.group],
    ['spec.scope', now.spec.scope, before.spec.scope],
    ['spec.names.kind', now.spec.names.kind, before.spec.names.kind],
    ['spec.names.plural', now.spec.names.plural, before.spec.names.plural],
  ];
  return fixed
    .filter(([, value, was]) => value !== was)
    .map(([field, value]) => invalidValue(field, value, 'field is immutable'));
}

// The warnings with which a CustomResourceDefinition is accepted.

/** The formats that the server does not check for their type. */
export function definitionWarnings(object: KubeObject): readonly string[] {
  const { spec } = object as Definition;
  const formats = new Set<string>();
  for (const { schema } of spec.versions ?? []) {
    if (schema?.openAPIV3Schema) gather(schema.openAPIV3Schema, formats);
  }
  return [...formats].sort().map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function gather(schema: JsonSchema, formats: Set<string>): void {
  const { format = '', allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (format !== '' && formatOf(schema) === '') formats.add(format);
  const inner = [itemsSchema(schema), valuesSchema(schema), not, ...allOf, ...anyOf, ...oneOf];
  for (const part of [...Object.values(schema.properties ?? {}), ...inner]) {
    if (part) gather(part, formats);
  }
}
