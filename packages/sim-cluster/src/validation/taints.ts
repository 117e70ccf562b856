// The validation of a node's taints and of a pod's tolerations.
import type { Cause } from '../objects/errors.ts';
import { labelValueErrors, qualifiedNameErrors } from '../objects/names.ts';
import type { Taint, TimedToleration } from '../objects/tolerations.ts';
import { duplicateValue, invalidValue, notSupported, required } from './causes.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** An entry of a node's `spec.taints[]`. */
export interface StoredTaint extends Taint {
  readonly timeAdded?: string;
}

/** The rules for taints; like the real server it names them `metadata.taints[i]`. */
export function validateTaints(taints: readonly StoredTaint[]): readonly Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const field = `metadata.taints[${index}]`;
    for (const error of qualifiedNameErrors(taint.key)) {
      causes.push(invalidValue(`${field}.key`, taint.key, error));
    }
    for (const error of labelValueErrors(taint.value ?? '')) {
      causes.push(invalidValue(`${field}.value`, taint.value, error));
    }
    causes.push(...validateEffect(taint.effect, `${field}.effect`));
    const pair = `${taint.effect}/${taint.key}`;
    if (seen.has(pair)) causes.push(duplicateTaint(taint, field));
    seen.add(pair);
  }
  return causes;
}

function duplicateTaint(taint: StoredTaint, field: string): Cause {
  const value = {
    Key: taint.key,
    Value: taint.value ?? '',
    Effect: taint.effect,
    TimeAdded: taint.timeAdded ?? null,
  };
  return duplicateValue(field, value, 'taints must be unique by key and effect pair');
}

function validateEffect(effect: string, field: string): readonly Cause[] {
  if (effect === '') return [required(field)];
  return effects.some((known) => known === effect) ? [] : [notSupported(field, effect, effects)];
}

const matchAllMessage =
  'operator must be Exists when `key` is empty, which means "match all values and all keys"';

/**
 * The rules for `spec.tolerations` of a pod. `before`: those that are stored; where they compare numbers
 * already, the new ones may too.
 */
export function validateTolerations(
  tolerations: readonly TimedToleration[],
  path: string,
  before: readonly TimedToleration[] = [],
): readonly Cause[] {
  const comparesNumbers = before.some(({ operator }) => operator === 'Lt' || operator === 'Gt');
  return tolerations.flatMap((toleration, index) => {
    const field = `${path}[${index}]`;
    const { key = '', operator = '', effect = '' } = toleration;
    const causes: Cause[] = [];
    if (key !== '') {
      for (const error of qualifiedNameErrors(key)) {
        causes.push(invalidValue(`${field}.key`, key, error));
      }
    } else if (operator !== 'Exists') {
      causes.push(invalidValue(`${field}.operator`, operator, matchAllMessage));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      causes.push(invalidValue(`${field}.effect`, effect, text));
    }
    const { value = '' } = toleration;
    causes.push(...validateOperator(operator, value, `${field}.operator`, comparesNumbers));
    if (effect !== '') causes.push(...validateEffect(effect, `${field}.effect`));
    return causes;
  });
}

function validateOperator(
  operator: string,
  value: string,
  field: string,
  comparesNumbers: boolean,
): readonly Cause[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const errors = labelValueErrors(value);
      return errors.length === 0 ? [] : [invalidValue(field, value, errors.join(';'))];
    }
    case 'Exists': {
      const text = "value must be empty when `operator` is 'Exists'";
      return value === '' ? [] : [invalidValue(field, value, text)];
    }
    // The comparison operators are known but their feature gate is off.
    case 'Lt':
    case 'Gt':
      if (comparesNumbers)
        return isInt64(value) ? [] : [invalidValue(field, value, integerMessage)];
      return [notSupported(field, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(field, operator, ['Equal', 'Exists'])];
  }
}

const integerMessage = 'must be a valid decimal integer in canonical form';

function isInt64(text: string): boolean {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}
