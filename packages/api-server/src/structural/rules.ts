// Compiles the x-kubernetes-validations of a schema and judges values by them.

import type { Cause, Json } from '@taintmgr/sim-cluster/server';
import { entry, equal, isList, isObject } from '@taintmgr/sim-cluster/server';
import { compile, type Program, type Variables } from '../cel/compile.ts';
import { type CelType, optionalOf } from '../cel/type.ts';
import { optional, toCel } from '../cel/value.ts';
import { celTypeOf } from './cel-types.ts';
import {
  itemsSchema,
  type JsonSchema,
  joined,
  type ValidationRule,
  valuesSchema,
} from './json-schema.ts';
import { correlated, noField } from './validate.ts';

/** A compiled rule. */
interface Rule {
  readonly given: ValidationRule;
  /** Its place among the rules of its part. */
  readonly index: number;
  readonly program: Program;
  readonly message: Program | null;
  readonly readsOld: boolean;
}

/** The rules of a schema and of its parts; parts without rules are left out. */
export interface RuleTree {
  readonly schema: JsonSchema;
  readonly type: CelType;
  readonly rules: readonly Rule[];
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly items: RuleTree | null;
  readonly values: RuleTree | null;
}

/** Something that does not compile: which rule of which part, and which expression of it. */
export interface RuleError {
  /** The path in the form `.properties[spec].items`. */
  readonly path: string;
  readonly index: number;
  readonly member: 'rule' | 'messageExpression';
  readonly error: string;
}

/** Compiles all rules of a schema; what does not compile is reported and left out. */
export function compileRules(
  schema: JsonSchema,
  errors: RuleError[],
  path = '',
  isRoot = true,
): RuleTree | null {
  const type = celTypeOf(schema, isRoot);
  if (!type) return null;
  const inner = (part: JsonSchema | undefined | null, place: string): RuleTree | null =>
    part ? compileRules(part, errors, `${path}${place}`, false) : null;
  const properties = new Map<string, RuleTree>();
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    const tree = inner(part, `.properties[${name}]`);
    if (tree) properties.set(name, tree);
  }
  const items = inner(itemsSchema(schema), '.items');
  const values = inner(valuesSchema(schema), '.additionalProperties');
  const given = schema['x-kubernetes-validations'] ?? [];
  const rules = given.flatMap((rule, index) => compileRule(rule, type, { path, index, errors }));
  if (given.length === 0 && properties.size === 0 && !items && !values) return null;
  return { schema, type, rules, properties, items, values };
}

interface Place {
  readonly path: string;
  readonly index: number;
  readonly errors: RuleError[];
}

const variablesOf = new WeakMap<object, { readonly plain: Variables; readonly opt: Variables }>();

/** Rules of one type share their variables, which saves compiling them again. */
function variables(type: CelType, isOptional: boolean): Variables {
  const fresh = {
    plain: { self: type, oldSelf: type },
    opt: { self: type, oldSelf: optionalOf(type) },
  };
  if (typeof type === 'string') return isOptional ? fresh.opt : fresh.plain;
  const known = variablesOf.get(type) ?? fresh;
  variablesOf.set(type, known);
  return isOptional ? known.opt : known.plain;
}

function compileRule(given: ValidationRule, type: CelType, place: Place): readonly Rule[] {
  const { path, index, errors } = place;
  const text = given.rule ?? '';
  if (text.trim() === '') return [];
  const declared = variables(type, given.optionalOldSelf === true);
  const compiled = compile(text, declared);
  const error =
    'error' in compiled ? compiled.error : compiled.program.type === 'bool' ? '' : notBool;
  if (error !== '' || 'error' in compiled) {
    errors.push({ path, index, member: 'rule', error });
    return [];
  }
  const message = messageOf(given, declared, place);
  return [{ given, index, program: compiled.program, message, readsOld: readsOldSelf(text) }];
}

const notBool = 'cel expression must evaluate to a bool';

function messageOf(
  { messageExpression = '' }: ValidationRule,
  declared: Variables,
  { path, index, errors }: Place,
): Program | null {
  if (messageExpression.trim() === '') return null;
  const compiled = compile(messageExpression, declared);
  if ('program' in compiled && compiled.program.type === 'string') return compiled.program;
  const why = 'error' in compiled ? compiled.error : 'must evaluate to a string';
  const error = `messageExpression ${why}`;
  errors.push({ path, index, member: 'messageExpression', error });
  return null;
}

/** Texts of an expression, the last of which may be without its end. */
const texts = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|'[^'\\]*(?:\\[\s\S][^'\\]*)*(?:'|\\?$)/g;

/** True if an expression names the old value outside of its texts. */
export function readsOldSelf(expression: string): boolean {
  return /\boldSelf\b/.test(expression.replace(texts, ''));
}

/**
 * The rules that a value breaks. `previous` is the value before, if any: transition rules need it,
 * and an unchanged value is never at fault.
 */
export function judge(
  tree: RuleTree,
  value: Json,
  path: string,
  previous?: Json,
): readonly Cause[] {
  const causes = tree.rules.length === 0 ? [] : judgeHere(tree, value, path, previous);
  if (isList(value)) {
    const { items } = tree;
    if (!items) return causes;
    const below = value.flatMap((item, index) =>
      item === null
        ? []
        : judge(items, item, `${path}[${index}]`, correlated(tree.schema, item, previous)),
    );
    return [...causes, ...below];
  }
  if (!isObject(value)) return causes;
  const isAtomic = tree.schema['x-kubernetes-map-type'] === 'atomic';
  const before = isObject(previous) && !isAtomic ? previous : {};
  const below = Object.entries(value).flatMap(([name, member]) => {
    const property = tree.properties.get(name);
    const inner = property ?? tree.values;
    if (!inner || member === null) return [];
    const place = property ? joined(path, name) : `${path}[${name}]`;
    return judge(inner, member, place, entry(before, name) ?? undefined);
  });
  return [...causes, ...below];
}

function judgeHere(
  tree: RuleTree,
  value: Json,
  path: string,
  previous: Json | undefined,
): readonly Cause[] {
  const isUnchanged = previous !== undefined && equal(value, previous);
  return tree.rules.flatMap((rule) => {
    const { given, program, readsOld } = rule;
    const isOptional = given.optionalOldSelf === true;
    if (readsOld && !isOptional && previous === undefined) return [];
    if (!readsOld && isUnchanged) return [];
    const bound = bindings(tree.type, value, previous, isOptional);
    if ('error' in bound) return [failure(tree, rule, path, String(bound.error))];
    const result = program.evaluate(bound);
    if ('error' in result) return [failure(tree, rule, path, result.error)];
    return result.value === true ? [] : [refusal(rule, value, path, bound)];
  });
}

function bindings(
  type: CelType,
  value: Json,
  previous: Json | undefined,
  isOptional: boolean,
): Record<string, unknown> {
  try {
    const old = previous === undefined ? undefined : toCel(type, previous);
    return { self: toCel(type, value), oldSelf: isOptional ? optional(old) : old };
  } catch (error) {
    // A text that its format lets pass may still be none of CEL's durations.
    return { error: error instanceof Error ? error.message.split('\n')[0] : String(error) };
  }
}

/** An expression that could not be evaluated. */
function failure({ schema }: RuleTree, rule: Rule, path: string, error: string): Cause {
  const { given } = rule;
  const said = given.message?.trim() || (given.rule ?? '').trim();
  const text = `${JSON.stringify(schema.type ?? '')}: ${explained(error)} rule: ${said}`;
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${text}`, field: path || noField };
}

function explained(error: string): string {
  if (error.startsWith('no such overload')) {
    return `'${error}': call arguments did not match a supported operator, function or macro signature for`;
  }
  if (error.startsWith('operation cancelled')) {
    return `'${error}': no further validation rules will be run due to call cost exceeds limit for`;
  }
  return `${error} evaluating`;
}

/** A rule that a value does not obey. */
function refusal(rule: Rule, value: Json, path: string, bound: Record<string, unknown>): Cause {
  const { given } = rule;
  const said = messageText(rule, bound);
  const field = `${path}${given.fieldPath ?? ''}`.replace(/^\./, '') || noField;
  const reason = given.reason ?? 'FieldValueInvalid';
  const isWhole = isObject(value) || isList(value);
  const shown = isWhole ? '' : `: ${JSON.stringify(value)}`;
  switch (reason) {
    case 'FieldValueForbidden':
      return { reason, message: `Forbidden: ${said}`, field };
    case 'FieldValueRequired':
      return { reason, message: `Required value: ${said}`, field };
    case 'FieldValueDuplicate':
      return { reason, message: `Duplicate value${shown}`, field };
    default:
      return { reason, message: `Invalid value${shown}: ${said}`, field };
  }
}

function messageText({ given, message }: Rule, bound: Record<string, unknown>): string {
  const worked = message?.evaluate(bound);
  const text = worked && 'value' in worked ? String(worked.value).trim() : '';
  if (text !== '' && !text.includes('\n')) return text;
  return given.message?.trim() || `failed rule: ${(given.rule ?? '').trim()}`;
}
