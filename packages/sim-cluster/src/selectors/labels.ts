// Label selectors.
import { entry } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelValueErrors, qualifiedNameErrors } from '../objects/names.ts';
import { Lexer, SelectorError, type Token } from './lexer.ts';

/** A condition on an object's labels. */
export interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!' | '>' | '<';
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** True when the labels meet every requirement. */
export function matchesLabels(requirements: readonly Requirement[], labels: Labels): boolean {
  return requirements.every((requirement) => meets(requirement, labels));
}

function meets({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = entry(labels, key);
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '>':
      return value !== undefined && Number(value) > Number(values[0]);
    case '<':
      return value !== undefined && Number(value) < Number(values[0]);
  }
}

/** `key`, `!key`, `=`, `==`, `!=`, `in (…)`, `notin (…)`, joined by commas. Throws SelectorError. */
export function parseLabelSelector(text: string): readonly Requirement[] {
  const lexer = new Lexer(text);
  const requirements: Requirement[] = [];
  for (;;) {
    const first = lexer.peek();
    if (first.kind === 'end') return requirements;
    if (first.kind !== 'word' && first.text !== '!') {
      throw new SelectorError(`found '${first.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(lexer));
    const next = lexer.take();
    if (next.kind === 'end') return requirements;
    if (next.text !== ',') {
      throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
    }
    const after = lexer.peek();
    if (after.kind !== 'word' && after.text !== '!') {
      throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
    }
  }
}

function parseRequirement(lexer: Lexer): Requirement {
  try {
    return requirementAt(lexer);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw new SelectorError(`unable to parse requirement: ${error.message}`);
  }
}

function requirementAt(lexer: Lexer): Requirement {
  const negated = lexer.peek().text === '!' && lexer.take() !== undefined;
  const name = lexer.take();
  if (name.kind !== 'word') refuse(name, 'identifier');
  const key = name.text;
  for (const error of qualifiedNameErrors(key)) {
    throw new SelectorError(`<nil>: Invalid value: ${JSON.stringify(key)}: ${error}`);
  }
  const next = lexer.peek();
  if (negated) return { key, operator: '!', values: [] };
  if (next.kind === 'end' || next.text === ',') return { key, operator: 'exists', values: [] };
  const operator = lexer.take();
  switch (operator.text) {
    case '=':
    case '==':
      return { key, operator: 'in', values: [checkedValue(exactValue(lexer), key)] };
    case '!=':
      return { key, operator: 'notin', values: [checkedValue(exactValue(lexer), key)] };
    case 'in':
    case 'notin':
      return {
        key,
        operator: operator.text,
        values: listedValues(lexer).map((value) => checkedValue(value, key)),
      };
    case '>':
    case '<':
      return { key, operator: operator.text, values: [checkedInteger(exactValue(lexer), key)] };
    default:
      return refuse(operator, 'in, notin, =, ==, !=, gt, lt');
  }
}

function refuse(token: Token, expected: string): never {
  throw new SelectorError(`found '${token.text}', expected: ${expected}`);
}

function checkedValue(value: string, key: string): string {
  for (const error of labelValueErrors(value)) {
    throw new SelectorError(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${error}`);
  }
  return value;
}

const int64Limit = 2n ** 63n;

/** An int64, as Go reads it. */
function checkedInteger(value: string, key: string): string {
  const isWhole = /^[+-]?\d+$/.test(value);
  const number = isWhole ? BigInt(value.replace('+', '')) : int64Limit;
  if (number < int64Limit && number >= -int64Limit) return checkedValue(value, key);
  const text = "for 'Gt', 'Lt' operators, the value must be an integer";
  throw new SelectorError(`values[0]: Invalid value: ${JSON.stringify(value)}: ${text}`);
}

function exactValue(lexer: Lexer): string {
  const next = lexer.peek();
  if (next.kind === 'end' || next.text === ',') return '';
  const token = lexer.take();
  return token.kind === 'word' ? token.text : refuse(token, 'identifier');
}

function listedValues(lexer: Lexer): readonly string[] {
  const open = lexer.take();
  if (open.text !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
  const values: string[] = [];
  for (;;) {
    const token = lexer.take();
    if (token.text === ')') return values;
    if (token.kind === 'word') values.push(token.text);
    else if (token.text === ',') values.push(...(lexer.peek().kind === 'word' ? [] : ['']));
    else return refuse(token, "',', ')' or identifier");
  }
}

const operators: Readonly<Record<string, Requirement['operator']>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * A metav1.LabelSelector as requirements: `{}` has no requirement and matches everything. Null for
 * no selector and for one with an unknown operator, which match nothing.
 */
export function labelSelectorRequirements(
  selector: KubeObject['selector'] | undefined | null,
): readonly Requirement[] | null {
  if (!selector) return null;
  const requirements: Requirement[] = Object.entries((selector.matchLabels ?? {}) as Labels).map(
    ([key, value]) => ({ key, operator: 'in', values: [value] }),
  );
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = entry(operators, operator);
    if (!known) return null;
    requirements.push({ key, operator: known, values: values ?? [] });
  }
  return requirements;
}

/** The requirements as one writes them: `app=web,tier in (a,b),!old`. */
export function labelSelectorText(requirements: readonly Requirement[]): string {
  return requirements
    .map(({ key, operator, values }) => {
      if (operator === 'exists') return key;
      if (operator === '!') return `!${key}`;
      const isOne = operator === 'in' && values.length === 1;
      return isOne ? `${key}=${values[0]}` : `${key} ${operator} (${[...values].sort().join(',')})`;
    })
    .join(',');
}
