// docs/reference/configuration.md: every field of the configuration file and of our kinds.
import { readFileSync } from 'node:fs';
import type { Setting } from '../../apps/controller/src/flags/setting.ts';
import { settings } from '../../apps/controller/src/flags/settings.ts';
import { customResourceDefinitions } from '../../packages/k8s-adapter/src/doors/kinds.ts';
import { type Field, fieldsOf, type Schema } from './fields.ts';
import { code, page, sentence, table } from './page.ts';

/** A kind, and all of its fields. */
export interface DescribedKind {
  readonly kind: string;
  readonly description: string;
  readonly names: string;
  readonly fields: readonly Field[];
  /** What has to hold for it as a whole. */
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

/** A default in words; the members of an object show theirs in rows of their own. */
function shown(kind: string, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'object') return '{}';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is refused, in the words in which it is. */
function rulesPart(fields: readonly Field[], rules: readonly string[]): readonly string[] {
  const rows = [
    ...rules.map((message) => ['', sentence(message)]),
    ...fields.flatMap(({ path, rules: own }) => own.map((text) => [code(path), sentence(text)])),
  ];
  return rows.length === 0 ? [] : [`What else has to hold:\n\n${table(['of', 'rule'], rows)}`];
}
