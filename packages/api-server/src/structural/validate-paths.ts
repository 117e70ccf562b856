// Whether printer columns and selectable fields name what they can show.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { duplicateValue, invalidValue, required } from '@taintmgr/sim-cluster/server';
import type { DefinitionVersion, PrinterColumn } from './definition.ts';
import { parsePath } from './json-path.ts';
import { type JsonSchema, memberSchema } from './json-schema.ts';

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

/** What is wrong with printer columns; `path` is what they are in. */
export function validateColumns(columns: readonly PrinterColumn[], path: string): readonly Cause[] {
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

/** What is wrong with the paths of the scale subresource. */
export function validateScale(scale: Scale, path: string): readonly Cause[] {
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

/** What is wrong with selectable fields; `path` is what they are in. */
export function validateSelectable(
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
