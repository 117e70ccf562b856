// Whether the CEL rules of a definition are complete and compile.
import type { Cause } from '../objects/errors.ts';
import { invalidValue, notSupported, required } from '../validation/causes.ts';
import { celTypeOf } from './cel-types.ts';
import { costCauses } from './cost.ts';
import {
  itemsSchema,
  type JsonSchema,
  memberSchema,
  type ValidationRule,
  valuesSchema,
} from './json-schema.ts';
import { compileRules, type RuleError, readsOldSelf } from './rules.ts';

const reasons = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
] as const;

/** What is wrong with the rules of a schema that is structural. */
export function validateRules(schema: JsonSchema, path: string): readonly Cause[] {
  const place = { path: '', base: path, errors: [], isCorrelated: true };
  const odd = partCauses(schema, place, formCauses);
  // What is incomplete is not compiled.
  if (odd.length > 0) return odd;
  const errors: RuleError[] = [];
  const { own, total } = costCauses(compileRules(schema, errors), path);
  return [...own, ...partCauses(schema, { ...place, errors }, meaningCauses), ...total];
}

interface Place {
  readonly path: string;
  readonly base: string;
  readonly errors: readonly RuleError[];
  /** Whether a value here has a value before it that it continues. */
  readonly isCorrelated: boolean;
}

type Check = (
  schema: JsonSchema,
  rule: ValidationRule,
  index: number,
  place: Place,
) => readonly Cause[];

function partCauses(schema: JsonSchema, place: Place, check: Check): readonly Cause[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const isUnseen = rules.length > 0 && mayBeUnseen(schema) && celTypeOf(schema) === null;
  const own = isUnseen
    ? [unseen(`${place.base}${place.path}.x-kubernetes-validations`)]
    : rules.flatMap((rule, index) => check(schema, rule, index, place));
  const inner = (part: JsonSchema, step: string, isCorrelated: boolean): readonly Cause[] =>
    partCauses(part, { ...place, path: `${place.path}${step}`, isCorrelated }, check);
  const isGranular = place.isCorrelated && schema['x-kubernetes-map-type'] !== 'atomic';
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  const isMap = place.isCorrelated && schema['x-kubernetes-list-type'] === 'map';
  return [
    ...own,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
      inner(part, `.properties[${name}]`, isGranular),
    ),
    ...(values ? inner(values, '.additionalProperties', isGranular) : []),
    ...(items ? inner(items, '.items', isMap) : []),
  ];
}

/** Texts, numbers and objects with fields are seen whatever is in them. */
function mayBeUnseen(schema: JsonSchema): boolean {
  return schema.type === undefined || schema.type === 'array' || valuesSchema(schema) !== null;
}

/** Rules of what they cannot see. */
function unseen(field: string): Cause {
  const text = 'failed to retrieve type information for x-kubernetes-validations';
  return { reason: 'InternalError', message: `Internal error: internal error: ${text}`, field };
}

const fieldOf = ({ base, path }: Place, index: number): string =>
  `${base}${path}.x-kubernetes-validations[${index}]`;

/** What is wrong with a rule before anybody knows what it says. */
function formCauses(
  schema: JsonSchema,
  rule: ValidationRule,
  index: number,
  place: Place,
): readonly Cause[] {
  const field = fieldOf(place, index);
  const text = rule.rule ?? '';
  if (text.trim() === '') return [required(`${field}.rule`, 'rule is not specified')];
  const causes: Cause[] = [...messageCauses(rule, field)];
  if (rule.messageExpression && rule.messageExpression.trim() === '') {
    causes.push(required(`${field}.messageExpression`, 'must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !reasons.some((known) => known === rule.reason)) {
    causes.push(notSupported(`${field}.reason`, rule.reason, reasons));
  }
  if (rule.fieldPath !== undefined && !leadsSomewhere(schema, rule.fieldPath)) {
    causes.push(invalidValue(`${field}.fieldPath`, rule.fieldPath, 'must be a valid path'));
  }
  return causes;
}

/** What is wrong with what a rule says. */
function meaningCauses(
  _schema: JsonSchema,
  rule: ValidationRule,
  index: number,
  place: Place,
): readonly Cause[] {
  const field = fieldOf(place, index);
  const { rule: text = '', optionalOldSelf } = rule;
  const causes = place.errors
    .filter((error) => error.path === place.path && error.index === index)
    .map(({ member, error }) => compileCause(rule, `${field}.${member}`, error));
  const readsOld = readsOldSelf(text);
  if (optionalOldSelf !== undefined && !readsOld) {
    const detail = 'may not be set if oldSelf is not used in rule';
    causes.push(invalidValue(`${field}.optionalOldSelf`, optionalOldSelf, detail));
  }
  if (readsOld && !place.isCorrelated) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.base}${place.path.replace(/\.items.*$/, '')}`;
    causes.push(invalidValue(`${field}.rule`, text, detail));
  }
  return causes;
}

function messageCauses({ rule = '', message }: ValidationRule, field: string): readonly Cause[] {
  if (message === undefined || message === '') {
    if (!rule.includes('\n')) return [];
    const text = 'message must be specified if rule contains line breaks';
    return [required(`${field}.message`, text)];
  }
  if (message.trim() === '') {
    return [invalidValue(`${field}.message`, message, 'must be non-empty if specified')];
  }
  if (!message.includes('\n')) return [];
  return [invalidValue(`${field}.message`, message, 'must not contain line breaks')];
}

/** The rule is shown as Go prints the server's own struct. */
function compileCause(rule: ValidationRule, field: string, error: string): Cause {
  const shown = JSON.stringify({
    Rule: rule.rule ?? '',
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }).replace(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${error}`, field };
}

/** Whether a path such as `.a.b` or `['a']` names something in a schema. */
function leadsSomewhere(schema: JsonSchema, path: string): boolean {
  if (!/^(?:\.[A-Za-z_]\w*|\['(?:[^'\\]|\\.)*'\])+$/.test(path)) return false;
  let here: JsonSchema | null = schema;
  for (const [, name, quoted] of path.matchAll(/\.([A-Za-z_]\w*)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    here = here && memberSchema(here, name ?? quoted ?? '');
  }
  return here !== null;
}
