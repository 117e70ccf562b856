// Judges a value by its schema as the API server does: types, bounds and rules, with defaults filled in,
// and faults in the words of the API server.

import { formatTime, parseTime } from '@taintmgr/core/time';
import type {
  ListSchema,
  MapSchema,
  NumberSchema,
  ObjectSchema,
  Rule,
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
  const { whole, faults } = examined(schema, value, path, strays);
  if (faults.length > 0) return { kind: 'refused', faults };
  // A value that the schema allows is of the type that is made of it.
  return { kind: 'allowed', value: whole as TypeOf<S> };
}

interface Examined {
  /** With its defaults. */
  readonly whole: unknown;
  readonly faults: readonly ManifestFault[];
}

function examined(
  schema: Schema,
  value: unknown,
  path: Path,
  strays: 'refused' | 'dropped',
): Examined {
  const given = value ?? schema.default ?? null;
  if (given === null) return { whole: null, faults: [requiredValue(path), rulesNotChecked] };
  const faults: ManifestFault[] = [];
  const whole = filled(schema, given, path, faults);
  if (strays === 'dropped') faults.length = 0;
  faults.push(...faultsOf(schema, whole, path));
  if (faults.some(({ endsChecks }) => endsChecks)) faults.push(rulesNotChecked);
  else faults.push(...brokenRules(schema, whole, path));
  return { whole, faults };
}

/**
 * The value as far as the schema allows it: a later version may know more words, and allow more of
 * everything. What is refused is left out, with what cannot be without it; null: all of it is.
 */
export function judgeInPart<const S extends Schema>(
  schema: S,
  value: unknown,
  path: Path,
): TypeOf<S> | null {
  let rest = examined(schema, value, path, 'dropped');
  while (rest.faults.length > 0) {
    const [fault] = mendable(rest.faults);
    const steps = fault?.path.slice(path.length) ?? [];
    const less = withoutPart(schema, rest.whole, steps);
    if (less === undefined) return null;
    rest = examined(schema, less, path, 'dropped');
  }
  return rest.whole as TypeOf<S>;
}

/** The value without this part of it; undefined: it cannot be without. */
function withoutPart(schema: Schema, value: unknown, [step, ...below]: Path): unknown {
  if (step === undefined) return undefined;
  if (schema.type === 'array' && Array.isArray(value) && typeof step === 'number') {
    const less = withoutPart(schema.items, value[step], below);
    return less === undefined ? value.toSpliced(step, 1) : value.with(step, less);
  }
  if (!isRecord(value) || (schema.type !== 'object' && schema.type !== 'map')) return undefined;
  if (!Object.hasOwn(value, step)) return undefined;
  const member = schema.type === 'map' ? schema.values : schema.properties[step];
  const less = member && withoutPart(member, value[step], below);
  if (less !== undefined) return { ...value, [step]: less };
  if (schema.type === 'object' && schema.required?.includes(`${step}`)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== `${step}`));
}

/** Types, bounds and what must be there. */
function faultsOf(schema: Schema, value: unknown, path: Path): readonly ManifestFault[] {
  switch (schema.type) {
    case 'string':
      return textFaults(schema, value, path);
    case 'integer':
    case 'number':
      return numberFaults(schema, value, path);
    case 'boolean':
      return typeof value === 'boolean' ? [] : [wrongType(path, 'boolean', value)];
    case 'integerOrString': {
      const isEither = typeof value === 'string' || isInteger(value);
      return isEither ? [] : [wrongType(path, 'integer,string', value)];
    }
    case 'array':
      return Array.isArray(value)
        ? listFaults(schema, value, path)
        : [wrongType(path, 'array', value)];
    case 'map':
      return isRecord(value) ? mapFaults(schema, value, path) : [wrongType(path, 'object', value)];
    case 'object':
      return isRecord(value)
        ? objectFaults(schema, value, path)
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

/**
 * The format that Go's strfmt takes: letters of either case, any number of digits after the point.
 */
function isDateTime(text: string): boolean {
  const upper = text.toUpperCase().replace(/([.]\d{9})\d+/, '$1');
  if (/:60(?=[.Z+-])/.test(upper) || parseTime(upper) === null) return false;
  // The 30th of February is read as a day of March, which is another date.
  const date = upper.slice(0, 10);
  return formatTime(parseTime(`${date}T00:00:00Z`) ?? 0).startsWith(date);
}

/** A number with a fraction is no integer, and may be out of the bounds too. */
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

/**
 * Returns the value with its defaults; `faults` gets the unknown fields. Null: no schema is for it,
 * since what is around it is of another type than it should be.
 */
export function filled(
  schema: Schema | null,
  value: unknown,
  path: Path,
  faults: ManifestFault[],
): unknown {
  if (Array.isArray(value)) {
    const items = schema?.type === 'array' ? schema.items : null;
    return value.map((item, index) => filled(items, item, [...path, index], faults));
  }
  if (!isRecord(value)) return value;
  if (schema?.type === 'object') return filledObject(schema, value, path, faults);
  if (schema?.type !== 'map') {
    faults.push(...Object.keys(value).map((name) => unknownField([...path, name])));
    return {};
  }
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    entries.map(([name, each]) => [name, filled(schema.values, each, [...path, name], faults)]),
  );
}

function filledObject(
  { properties }: ObjectSchema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  faults: ManifestFault[],
): unknown {
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) faults.push(unknownField([...path, name]));
  }
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    const given = Object.hasOwn(value, name) ? value[name] : null;
    const member = given ?? schema.default ?? null;
    return member === null
      ? []
      : [[name, filled(schema, member, [...path, name], faults)] as const];
  });
  return Object.fromEntries(entries);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The rules that a value of the right types breaks, from the outside in. */
export function brokenRules(schema: Schema, value: unknown, path: Path): readonly ManifestFault[] {
  const own = (schema.rules ?? []).filter((rule) => !holds(rule, value));
  const faults = own.map((rule) => faultOf(rule, value, path));
  const below = partsOf(schema, value).flatMap(([step, part, each]) =>
    brokenRules(part, each, [...path, step]),
  );
  return [...faults, ...below, ...brokenInMap(schema, value, path)];
}

/** The rule as the API server is given it. */
export function celOf(rule: Rule): string {
  return 'matches' in rule ? `self.matches('${rule.matches}')` : rule.cel;
}

function holds(rule: Rule, value: unknown): boolean {
  if ('matches' in rule) return typeof value === 'string' && new RegExp(rule.matches).test(value);
  return rule.holds(value);
}

function faultOf(rule: Rule, value: unknown, path: Path): ManifestFault {
  const { fieldPath = '' } = 'matches' in rule ? {} : rule;
  if (fieldPath === '') return invalid(path, value, rule.message);
  return invalid([...path, ...fieldPath.slice(1).split('.')], undefined, rule.message);
}

/** The same of the values of a map: the API server names their keys in brackets. */
function brokenInMap(schema: Schema, value: unknown, path: Path): readonly ManifestFault[] {
  if (schema.type !== 'map' || !isRecord(value)) return [];
  const [above, last = ''] = [path.slice(0, -1), path.at(-1)];
  return Object.entries(value).flatMap(([key, each]) =>
    brokenRules(schema.values, each, [...above, `${last}[${key}]`]),
  );
}

type Part = readonly [step: string | number, schema: Schema, value: unknown];

/** The existing members and items. */
function partsOf(schema: Schema, value: unknown): readonly Part[] {
  if (schema.type === 'array' && Array.isArray(value)) {
    return value.map((item, index): Part => [index, schema.items, item]);
  }
  if (schema.type !== 'object' || !isRecord(value)) return [];
  const given = Object.entries(schema.properties).filter(([name]) => Object.hasOwn(value, name));
  return given.map(([name, member]): Part => [name, member, value[name]]);
}

/** The steps that lead to a value. */
export type Path = readonly (string | number)[];

/** A fault of a manifest. */
export interface ManifestFault {
  /** The value that it is about, or where that should be. */
  readonly path: Path;
  /** As the API server says it, the path first. */
  readonly text: string;
  /** Rules are not asked about an object of which this is wrong. */
  readonly endsChecks: boolean;
}

/** `spec.match.taints[0].key` */
function pathText(path: Path): string {
  const parts = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  return parts.join('').replace(/^\./, '');
}

/** The API server warns of it, kubectl refuses it. */
export function unknownField(path: Path): ManifestFault {
  return { path, text: `unknown field "${pathText(path)}"`, endsChecks: false };
}

function requiredValue(path: Path): ManifestFault {
  return { path, text: `${pathText(path)}: Required value`, endsChecks: true };
}

export function wrongType(path: Path, want: string, value: unknown): ManifestFault {
  return notOfType(path, want, typeName(value));
}

/** The API server names Go's type of a number here, and names no type for other values. */
function wrongFormat(path: Path, want: string, value: unknown): ManifestFault {
  if (typeof value === 'string') return notOfType(path, want, value);
  const isInteger = typeName(value) === 'integer';
  return notOfType(path, want, typeof value !== 'number' ? '' : isInteger ? 'int64' : 'float64');
}

function notOfType(path: Path, want: string, shown: string): ManifestFault {
  const [name, got] = [pathText(path), JSON.stringify(shown)];
  const text = `${name}: Invalid value: ${got}: ${name} in body must be of type ${want}: ${got}`;
  return { path, text, endsChecks: true };
}

/** The API server's message for a number that no integer can hold, beside its wrong type. */
function noInteger(path: Path): ManifestFault {
  const why = `Checked value must be of type integer (default format) in ${pathText(path)}`;
  return { path, text: why, endsChecks: false };
}

function unsupported(path: Path, value: unknown, words: readonly string[]): ManifestFault {
  const [got, want] = [JSON.stringify(value), words.map((word) => JSON.stringify(word)).join(', ')];
  const text = `${pathText(path)}: Unsupported value: ${got}: supported values: ${want}`;
  return { path, text, endsChecks: true };
}

/** Runes, whatever the API server calls them. */
function tooLong(path: Path, most: number): ManifestFault {
  const unit = most === 1 ? 'byte' : 'bytes';
  const text = `${pathText(path)}: Too long: may not be more than ${most} ${unit}`;
  return { path, text, endsChecks: true };
}

function tooMany(path: Path, count: number, most: number): ManifestFault {
  const unit = most === 1 ? 'item' : 'items';
  const text = `${pathText(path)}: Too many: ${count}: must have at most ${most} ${unit}`;
  return { path, text, endsChecks: true };
}

/** `spec.priority: Invalid value: -1: spec.priority in body should be …` */
function outOfBounds(path: Path, value: unknown, bound: string): ManifestFault {
  const name = pathText(path);
  return invalid(path, value, `${name} in body should ${bound}`);
}

/** The broken value is shown where it is a single value. */
export function invalid(path: Path, value: unknown, why: string): ManifestFault {
  const shown =
    typeof value === 'object' || value === undefined ? '' : `${JSON.stringify(value)}: `;
  return { path, text: `${pathText(path)}: Invalid value: ${shown}${why}`, endsChecks: false };
}

/** The API server's last words about an object whose rules it could not ask, without the `<nil>` before them. */
const rulesNotChecked: ManifestFault = {
  path: [],
  text: 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  endsChecks: true,
};

/** The faults that the author of a file can mend: without the API server's word about rules that it did not ask. */
export function mendable(faults: readonly ManifestFault[]): readonly ManifestFault[] {
  return faults.filter((fault) => fault !== rulesNotChecked);
}

/** Integers of the API server have 64 bits; it reads a larger one as another number. */
const integerEnd = 2 ** 63;

function isInteger(value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return value < integerEnd && value >= -integerEnd;
}

/** As JSON Schema calls it. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
