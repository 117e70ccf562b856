// The validation of label selectors that are part of an object.
import type { Cause } from '../objects/errors.ts';
import { entry } from '../objects/json.ts';
import { qualifiedNameErrors } from '../objects/names.ts';
import { forbiddenValue, invalidValue, required } from './causes.ts';
import { validateLabels } from './metadata.ts';

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A selector as objects hold it. */
export interface LabelSelector {
  /** Labels that an object must have, with these values. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Conditions with `In`, `NotIn`, `Exists` or `DoesNotExist`; all must hold. */
  readonly matchExpressions?: readonly Expression[];
}

/** The rules for a label selector at `field`. */
export function validateSelector(selector: LabelSelector, field: string): readonly Cause[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return [
    ...validateLabels(matchLabels, `${field}.matchLabels`),
    ...matchExpressions.flatMap((one, index) =>
      validateExpression(one, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

/** True if a selector matches these labels; one with an unknown operator matches nothing. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const isMet = ({ key, operator, values = [] }: Expression): boolean => {
    const value = entry(labels, key);
    const isListed = value !== undefined && values.includes(value);
    if (operator === 'In' || operator === 'NotIn') return isListed === (operator === 'In');
    const isKnown = operator === 'Exists' || operator === 'DoesNotExist';
    return isKnown && (value !== undefined) === (operator === 'Exists');
  };
  const isLabelled = Object.entries(matchLabels).every(
    ([key, value]) => entry(labels, key) === value,
  );
  return isLabelled && matchExpressions.every(isMet);
}

function validateExpression(expression: Expression, field: string): readonly Cause[] {
  const { key, operator, values = [] } = expression;
  const keys = qualifiedNameErrors(key).map((error) => invalidValue(`${field}.key`, key, error));
  return [...validateOperator(operator, values, field), ...keys];
}

function validateOperator(
  operator: string,
  values: readonly string[],
  field: string,
): readonly Cause[] {
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const text = "must be specified when `operator` is 'In' or 'NotIn'";
      return values.length === 0 ? [required(`${field}.values`, text)] : [];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return values.length > 0 ? [forbiddenValue(`${field}.values`, text)] : [];
    }
    default:
      return [invalidValue(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}
