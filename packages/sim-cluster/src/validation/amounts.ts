// The validation of counts, and of counts or percentages.
import type { Cause } from '../objects/errors.ts';
import { invalidValue } from './causes.ts';

export const notNegativeMessage = 'must be greater than or equal to 0';

type Amount = number | string | undefined;

/** The rules for a member that is a count. */
export function validateCount(value: number | undefined, field: string): readonly Cause[] {
  return (value ?? 0) < 0 ? [invalidValue(field, value, notNegativeMessage)] : [];
}

/** The rules for a count or a percentage of at most 100%. */
export function validateAmount(value: Amount, field: string): readonly Cause[] {
  const causes = validateShare(value, field);
  const text = 'must not be greater than 100%';
  const isMore = causes.length === 0 && typeof value === 'string' && numberIn(value) > 100;
  return isMore ? [invalidValue(field, value, text)] : causes;
}

/** The rules for a count or a percentage, which may be more than all. */
export function validateShare(value: Amount, field: string): readonly Cause[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return validateCount(value, field);
  if (/^\d+%$/.test(value)) return [];
  const text =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalidValue(field, value, text)];
}

/** The number of a count or a percentage. */
export function numberIn(value: Amount): number {
  return typeof value === 'string' ? Number.parseInt(value, 10) : (value ?? 0);
}
