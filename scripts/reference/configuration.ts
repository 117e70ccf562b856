// docs/reference/configuration.md: every field of the configuration file and of our kinds.

import { readFileSync } from 'node:fs';
import { type Setting, settings } from '../../apps/controller/src/flags/settings.ts';
import { customResourceDefinitions } from '../../packages/k8s-adapter/src/doors/kinds.ts';
import { code, page, sentence, table } from './page.ts';

/** A kind, and all of its fields. */
interface DescribedKind {
  readonly kind: string;
  readonly description: string;
  readonly names: string;
  readonly fields: readonly Field[];
  /** The rules for the configuration as a whole. */
  readonly rules: readonly string[];
}

/** The fields of the configuration file. */
export function configurationFields(): readonly Field[] {
  const text = readFileSync('apps/controller/config.schema.json', 'utf8');
  const initial = new Map(
    Object.values(settings).flatMap((setting: Setting<unknown>) => {
      const { field, kind, initial: value } = setting;
      return field === null ? [] : [[field, kind.format(value)] as const];
    }),
  );
  return fieldsOf(JSON.parse(text) as Schema).map((field) => ({
    ...field,
    default: field.default ?? initial.get(field.path),
  }));
}

/** The kinds of taintmgr.dev. */
export function describedKinds(): readonly DescribedKind[] {
  return customResourceDefinitions().map(({ spec }) => {
    const { names, versions } = spec as unknown as Definition;
    const schema = versions[0]?.schema.openAPIV3Schema ?? {};
    return {
      kind: names.kind,
      description: schema.description ?? '',
      names: [names.plural, ...names.shortNames].join(', '),
      fields: fieldsOf(schema),
      rules: (schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    };
  });
}

interface Definition {
  readonly names: {
    readonly kind: string;
    readonly plural: string;
    readonly shortNames: readonly string[];
  };
  readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
}

/** The page. */
export function configurationPage(): string {
  const kinds = describedKinds();
  const links = kinds.map(({ kind }) => `[${kind}](#${kind.toLowerCase()})`).join(', ');
  return page(
    'Configuration',
    `The [configuration file](#the-configuration-file) of \`taintmgr-controller --config\`, and the kinds of \`taintmgr.dev/v1alpha1\`: ${links}. \`[]\` stands for each entry of a list, \`{}\` for each value of a map. What can be a flag too is in [flags](flags.md), with its default.`,
    `## The configuration file\n\n\`apiVersion: taintmgr.dev/v1alpha1\`, \`kind: ControllerConfiguration\`. Editors check it by [config.schema.json](../../apps/controller/config.schema.json); a wrong value ends the start with one line that names it.\n\n${fieldTable(configurationFields())}`,
    ...kinds.map(kindPart),
  );
}

function kindPart({ kind, description, names, fields, rules }: DescribedKind): string {
  const spec = fields.filter(({ path }) => !path.startsWith('status'));
  const status = fields.filter(({ path }) => path.startsWith('status.'));
  return [
    `## ${kind}`,
    `${sentence(description)} As kubectl takes it: \`${names}\`. It is in no namespace.`,
    ...(spec.length > 0 ? [fieldTable(spec), ...rulesPart(spec, rules)] : []),
    `### Status of ${kind}`,
    'Written by the controller alone.',
    fieldTable(status),
  ].join('\n\n');
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ path, kind, default: initial, isRequired, description }) => [
    code(path),
    kind,
    isRequired ? 'required' : code(shown(kind, initial)),
    sentence(description),
  ]);
  return table(['field', 'what stands there', 'default', 'what it does'], rows);
}

/** A default in words; the members of an object show theirs in separate rows. */
function shown(kind: string, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'object') return '{}';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The refusals, in the words of their errors. */
function rulesPart(fields: readonly Field[], rules: readonly string[]): readonly string[] {
  const rows = [
    ...rules.map((message) => ['', sentence(message)]),
    ...fields.flatMap(({ path, rules: own }) => own.map((text) => [code(path), sentence(text)])),
  ];
  return rows.length === 0 ? [] : [`What else has to hold:\n\n${table(['of', 'rule'], rows)}`];
}

/** The part of a schema that is read here: of draft 7, or of OpenAPI v3. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}

/** One field. */
interface Field {
  /** `spec.limits[].pods`; `{}` stands for any key. */
  readonly path: string;
  /** The allowed values, in words. */
  readonly kind: string;
  readonly default: unknown;
  readonly isRequired: boolean;
  readonly description: string;
  /** The rules between the field and the fields below it. */
  readonly rules: readonly string[];
}

/** All named fields below a schema, in its order. */
function fieldsOf(root: Schema, path = ''): readonly Field[] {
  return below(root, root, path);
}

function below(root: Schema, schema: Schema, path: string): readonly Field[] {
  const { properties = {}, required = [], items, additionalProperties } = resolved(root, schema);
  const named = Object.entries(properties).flatMap(([name, given]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [fieldOf(root, given, at, required.includes(name)), ...below(root, given, at)];
  });
  const each = items ? below(root, items, `${path}[]`) : [];
  const values =
    typeof additionalProperties === 'object' ? below(root, additionalProperties, `${path}{}`) : [];
  return [...named, ...each, ...values];
}

function fieldOf(root: Schema, given: Schema, path: string, isRequired: boolean): Field {
  const whole = resolved(root, given);
  return {
    path,
    kind: kindOf(root, whole),
    default: whole.default,
    isRequired,
    description: whole.description ?? '',
    rules: (whole['x-kubernetes-validations'] ?? []).map(({ message }) => message),
  };
}

/** The schema with its references resolved; members beside a reference count. */
function resolved(root: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  const name = $ref.split('/').at(-1) ?? '';
  return { ...resolved(root, root.definitions?.[name] ?? {}), ...own };
}

function kindOf(root: Schema, schema: Schema): string {
  const whole = resolved(root, schema);
  const { items, additionalProperties, format, pattern } = whole;
  const type = [whole.type ?? ''].flat().join(' or ');
  if (whole.const !== undefined) return code(JSON.stringify(whole.const));
  if (whole.enum) return whole.enum.map((value) => code(String(value))).join(', ');
  if (whole['x-kubernetes-int-or-string']) return 'whole number or text';
  const ways = whole.oneOf ?? whole.anyOf;
  if (ways && type === '') return ways.map((one) => kindOf(root, one)).join(' or ');
  if (type === 'array' && items) return `list of ${kindOf(root, items)}`;
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `map to ${kindOf(root, additionalProperties)}`;
  }
  if (type === 'object') return 'object';
  if (type === 'integer' || type === 'number') return `${numberName(type)}${rangeOf(whole)}`;
  if (format === 'date-time') return 'time, RFC 3339';
  if (pattern?.includes('ms') || pattern?.includes('[smh]')) return 'duration';
  return type === 'string' ? 'text' : type;
}

const numberName = (type: string): string => (type === 'integer' ? 'whole number' : 'number');

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const from = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : minimum;
  const isAbove = exclusiveMinimum !== undefined && exclusiveMinimum !== false;
  const low = from === undefined ? '' : isAbove ? ` above ${from}` : ` from ${from}`;
  return `${low}${maximum === undefined ? '' : ` to ${maximum}`}`;
}
