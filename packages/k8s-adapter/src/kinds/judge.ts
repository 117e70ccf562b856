// Judges a value by a schema as the API server does: what it refuses is refused in its words.
import { formatTime, parseTime } from '@taintmgr/core/time';
import {
  isInteger,
  type ManifestFault,
  noInteger,
  outOfBounds,
  type Path,
  requiredValue,
  rulesNotChecked,
  tooLong,
  tooMany,
  unsupported,
  wrongFormat,
  wrongType,
} from './fault.ts';
import { filled, isRecord } from './fill.ts';
import { resolved } from './resolved.ts';
import { brokenRules } from './rules.ts';
import type {
  ListSchema,
  MapSchema,
  NumberSchema,
  ObjectSchema,
  Schema,
  StringSchema,
  TypeOf,
} from './schema.ts';

/** A value that the schema allows, with its defaults, or all that is wrong with it. */
export type Judged<T> =
  | { readonly kind: 'allowed'; readonly value: T }
  | { readonly kind: 'refused'; readonly faults: readonly ManifestFault[] };

/** `strays` are fields that no schema knows: a later version may have them in a status. */
export function judge<const S extends Schema>(
  schema: S,
  value: unknown,
  path: Path,
  strays: 'refused' | 'dropped' = 'refused',
): Judged<TypeOf<S>> {
  const given = value ?? resolved(schema).default ?? null;
  if (given === null) return { kind: 'refused', faults: [requiredValue(path), rulesNotChecked] };
  const faults: ManifestFault[] = [];
  const whole = filled(schema, given, path, faults);
  if (strays === 'dropped') faults.length = 0;
  faults.push(...faultsOf(schema, whole, path));
  if (faults.some(({ endsChecks }) => endsChecks)) faults.push(rulesNotChecked);
  else faults.push(...brokenRules(schema, whole, path));
  if (faults.length > 0) return { kind: 'refused', faults };
  // What the schema has nothing against is of the type that is made of it.
  return { kind: 'allowed', value: whole as TypeOf<S> };
}

/** Types, bounds and what must be there. */
function faultsOf(schema: Schema, value: unknown, path: Path): readonly ManifestFault[] {
  const meant = resolved(schema);
  switch (meant.type) {
    case 'string':
      return textFaults(meant, value, path);
    case 'integer':
    case 'number':
      return numberFaults(meant, value, path);
    case 'boolean':
      return typeof value === 'boolean' ? [] : [wrongType(path, 'boolean', value)];
    case 'integerOrString': {
      const isEither = typeof value === 'string' || isInteger(value);
      return isEither ? [] : [wrongType(path, 'integer,string', value)];
    }
    case 'array':
      return Array.isArray(value)
        ? listFaults(meant, value, path)
        : [wrongType(path, 'array', value)];
    case 'map':
      return isRecord(value) ? mapFaults(meant, value, path) : [wrongType(path, 'object', value)];
    case 'object':
      return isRecord(value)
        ? objectFaults(meant, value, path)
        : [wrongType(path, 'object', value)];
  }
}

function textFaults(schema: StringSchema, value: unknown, path: Path): readonly ManifestFault[] {
  const { enum: words, minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = schema;
  const faults: ManifestFault[] = [];
  if (typeof value !== 'string') {
    // The API server takes a list for a text with a format: it is refused here, as any other text.
    const isOdd = format !== undefined && !Array.isArray(value);
    faults.push(isOdd ? wrongFormat(path, format, value) : wrongType(path, 'string', value));
  } else {
    const length = Array.from(value).length;
    if (length > maxLength) faults.push(tooLong(path, maxLength));
    if (length < minLength) {
      faults.push(outOfBounds(path, value, `be at least ${minLength} chars long`));
    }
    if (format && !isDateTime(value)) faults.push(wrongFormat(path, format, value));
  }
  const isKnown = words === undefined || words.some((word) => word === value);
  return isKnown ? faults : [...faults, unsupported(path, value, words)];
}

/** What Go's strfmt takes: letters of either case, any number of digits after the point. */
function isDateTime(text: string): boolean {
  const upper = text.toUpperCase().replace(/([.]\d{9})\d+/, '$1');
  if (/:60(?=[.Z+-])/.test(upper) || parseTime(upper) === null) return false;
  // The 30th of February is read as a day of March, which is another date.
  const date = upper.slice(0, 10);
  return formatTime(parseTime(`${date}T00:00:00Z`) ?? 0).startsWith(date);
}

/** A number with a fraction is none of integers, and may be out of their bounds too. */
function numberFaults(schema: NumberSchema, value: unknown, path: Path): readonly ManifestFault[] {
  if (typeof value !== 'number') return [wrongType(path, schema.type, value)];
  const isOfType = schema.type === 'number' || isInteger(value);
  const bound = boundOf(schema, value);
  return [
    ...(isOfType ? [] : [wrongType(path, schema.type, value), noInteger(path)]),
    ...(bound === null ? [] : [outOfBounds(path, value, bound)]),
  ];
}

/** The bound that the number is beyond; null: none. */
function boundOf(schema: NumberSchema, value: number): string | null {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = false } = schema;
  if (value > maximum) return `be less than or equal to ${maximum}`;
  if (exclusiveMinimum && value <= minimum) return `be greater than ${minimum}`;
  return value < minimum ? `be greater than or equal to ${minimum}` : null;
}

function listFaults(
  { items, minItems = 0, maxItems }: ListSchema,
  value: readonly unknown[],
  path: Path,
): readonly ManifestFault[] {
  const faults = value.flatMap((item, index) => faultsOf(items, item, [...path, index]));
  const { length } = value;
  if (length < minItems) {
    return [...faults, outOfBounds(path, length, `have at least ${minItems} items`)];
  }
  return length > maxItems ? [...faults, tooMany(path, length, maxItems)] : faults;
}

function mapFaults(
  { values, maxProperties }: MapSchema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): readonly ManifestFault[] {
  const entries = Object.entries(value);
  const faults = entries.flatMap(([name, each]) => faultsOf(values, each, [...path, name]));
  const { length } = entries;
  return length > maxProperties ? [...faults, tooMany(path, length, maxProperties)] : faults;
}

function objectFaults(
  { properties, required = [] }: ObjectSchema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): readonly ManifestFault[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const below = [...path, name];
    if (Object.hasOwn(value, name)) return faultsOf(schema, value[name], below);
    return required.includes(name) ? [requiredValue(below)] : [];
  });
}
