// Judges numbers and texts by their schema.
import type { Cause, Json } from '@taintmgr/sim-cluster/server';
import { entry, invalidValue } from '@taintmgr/sim-cluster/server';
import { goRegExp } from '../cel/regular-expression.ts';
import { hasFormat, isFormat } from '../cel/string-formats.ts';
import type { JsonSchema } from './json-schema.ts';

/** Numbers from here on, and below its negative, are outside of that format. */
const integerEnds: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };

/** True if Go reads a number as an integer: it has no fraction and fits into 64 bits. */
export function isInteger(value: number): boolean {
  return fits(value, 'int64');
}

function fits(value: number, format: string): boolean {
  const end = entry(integerEnds, format) ?? 2 ** 63;
  return Number.isInteger(value) && value < end && value >= -end;
}

/** The formats of numbers, by their type. */
const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The format of a schema, as far as the server knows it for the type; empty for none. */
export function formatOf({ type = '', format = '' }: JsonSchema): string {
  const isKnown =
    type === '' || type === 'string'
      ? isFormat(format)
      : entry(numberFormats, type)?.includes(format);
  return isKnown ? format : '';
}

/** The faults in a number or a text; empty for other values. */
export function validateScalar(schema: JsonSchema, value: Json, path: string): readonly Cause[] {
  if (typeof value === 'number') return numberCauses(schema, value, path);
  return typeof value === 'string' ? textCauses(schema, value, path) : [];
}

function numberCauses(schema: JsonSchema, value: number, path: string): readonly Cause[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const causes: Cause[] = [];
  const refuse = (text: string) => causes.push(invalidValue(path, value, `${path} ${text}`));
  const format = formatOf(schema);
  if (schema.type === 'integer' && !fits(value, format)) {
    const shown = format === '' ? '(default format)' : `with format ${format}`;
    const text = `Checked value must be of type integer ${shown} in ${path}`;
    causes.push(invalidValue('<nil>', '', text));
  }
  if (multipleOf !== undefined && multipleOf <= 0) {
    const text = `factor MultipleOf declared for ${path} must be positive: ${multipleOf}`;
    causes.push(invalidValue(path, multipleOf, text));
  } else if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    refuse(`in body should be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    refuse(`in body should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    refuse(`in body should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  }
  return causes;
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function textCauses(schema: JsonSchema, value: string, path: string): readonly Cause[] {
  const format = formatOf(schema);
  const causes = lengthOrPatternCauses(schema, value, path);
  if (format === '' || hasFormat(format, value)) return causes;
  const text = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
  const wrong = { ...invalidValue(path, value, text), reason: 'FieldValueTypeInvalid' };
  return [...causes, wrong];
}

/** The first of them counts. */
function lengthOrPatternCauses(
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: JsonSchema,
  value: string,
  path: string,
): readonly Cause[] {
  const length = [...value].length;
  if (length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`;
    return [{ reason: 'FieldValueTooLong', message, field: path }];
  }
  if (length < minLength) {
    return [
      invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`),
    ];
  }
  const compiled = pattern === undefined ? null : goRegExp(pattern);
  if (!compiled || 'error' in compiled || compiled.pattern.test(value)) return [];
  return [invalidValue(path, value, `${path} in body should match '${pattern}'`)];
}
