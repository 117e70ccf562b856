// The words in which faults of objects are reported.
import type { Cause } from '../objects/errors.ts';

const shown = (value: unknown): string =>
  value === undefined || value === null ? 'null' : JSON.stringify(value);

/** The message for an immutable field that changed. */
export const immutableMessage = 'field is immutable';

/** FieldValueRequired. */
export function required(field: string, detail?: string): Cause {
  const message = detail === undefined ? 'Required value' : `Required value: ${detail}`;
  return { reason: 'FieldValueRequired', message, field };
}

/** FieldValueInvalid: the offending value and the fault. */
export function invalidValue(field: string, value: unknown, detail: string): Cause {
  const message = `Invalid value: ${shown(value)}: ${detail}`;
  return { reason: 'FieldValueInvalid', message, field };
}

/** FieldValueNotSupported: not one of the values listed. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): Cause {
  const list = supported.map((text) => JSON.stringify(text)).join(', ');
  const message = `Unsupported value: ${shown(value)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

/** FieldValueForbidden. */
export function forbiddenValue(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field };
}

/** FieldValueDuplicate. */
export function duplicateValue(field: string, value: unknown, detail?: string): Cause {
  const message = `Duplicate value: ${shown(value)}${detail === undefined ? '' : `: ${detail}`}`;
  return { reason: 'FieldValueDuplicate', message, field };
}

/** FieldValueNotFound: it names something that is not there. */
export function notFoundValue(field: string, value: unknown): Cause {
  return { reason: 'FieldValueNotFound', message: `Not found: ${shown(value)}`, field };
}

/** FieldValueTooMany: a list is longer than it may be. */
export function tooMany(field: string, count: number, max: number): Cause {
  const message = `Too many: ${count}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return { reason: 'FieldValueTooMany', message, field };
}
