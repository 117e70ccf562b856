// Checks that the CEL rules of a definition are complete and compile.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { invalidValue, notSupported, required } from '@taintmgr/sim-cluster/server';
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

/** The faults in the rules of a structural schema; only valid places are checked. */
export function validateRules(
  schema: JsonSchema,
  path: string,
  isSound: (place: string) => boolean,
): readonly Cause[] {
  const errors: RuleError[] = [];
  const { own, total } = costCauses(compileRules(schema, errors), path, isSound);
  const place = { path: '', base: path, errors, isCorrelated: true, isSound };
  return [...own, ...partCauses(schema, place), ...total];
}

/** The faults in the rules of one schema that show without compiling them. */
export function validateRuleForms(schema: JsonSchema, path: string): readonly Cause[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return rules.flatMap((rule, index) =>
    formCauses(schema, rule, `${path}.x-kubernetes-validations[${index}]`),
  );
}

interface Place {
  readonly path: string;
  readonly base: string;
  readonly errors: readonly RuleError[];
  /** True if a value here continues an old value. */
  readonly isCorrelated: boolean;
  readonly isSound: (place: string) => boolean;
}

function partCauses(schema: JsonSchema, place: Place): readonly Cause[] {
  const inner = (part: JsonSchema, step: string, isCorrelated: boolean): readonly Cause[] =>
    partCauses(part, { ...place, path: `${place.path}${step}`, isCorrelated });
  const isGranular = place.isCorrelated && schema['x-kubernetes-map-type'] !== 'atomic';
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  const isMap = place.isCorrelated && schema['x-kubernetes-list-type'] === 'map';
  return [
    ...(place.isSound(`${place.base}${place.path}`) ? ownCauses(schema, place) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
      inner(part, `.properties[${name}]`, isGranular),
    ),
    ...(values ? inner(values, '.additionalProperties', isGranular) : []),
    ...(items ? inner(items, '.items', isMap) : []),
  ];
}

function ownCauses(schema: JsonSchema, place: Place): readonly Cause[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const isUnseen = rules.length > 0 && mayBeUnseen(schema) && celTypeOf(schema) === null;
  if (isUnseen) return [unseen(`${place.base}${place.path}.x-kubernetes-validations`)];
  return rules.flatMap((rule, index) => meaningCauses(rule, index, place));
}

/** Texts, numbers and objects with fields are seen whatever is in them. */
function mayBeUnseen(schema: JsonSchema): boolean {
  return schema.type === undefined || schema.type === 'array' || valuesSchema(schema) !== null;
}

/** The cause for rules without type information. */
function unseen(field: string): Cause {
  const text = 'failed to retrieve type information for x-kubernetes-validations';
  return { reason: 'InternalError', message: `Internal error: internal error: ${text}`, field };
}

const fieldOf = ({ base, path }: Place, index: number): string =>
  `${base}${path}.x-kubernetes-validations[${index}]`;

function formCauses(schema: JsonSchema, rule: ValidationRule, field: string): readonly Cause[] {
  const { messageExpression = '', reason, fieldPath = '' } = rule;
  const causes: Cause[] = [...messageCauses(rule, field)];
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const text = 'messageExpression must be non-empty if specified';
    causes.push(required(`${field}.messageExpression`, text));
  }
  if (reason !== undefined && !reasons.some((known) => known === reason)) {
    causes.push(notSupported(`${field}.reason`, reason, reasons));
  }
  const refusePath = (text: string) =>
    causes.push(invalidValue(`${field}.fieldPath`, fieldPath, text));
  if (fieldPath === '') return causes;
  if (fieldPath.trim() === '') refusePath('must be non-empty if specified');
  if (/[\n\r]/.test(fieldPath)) refusePath('must not contain line breaks');
  if (!leadsSomewhere(schema, fieldPath)) refusePath('must be a valid path');
  return causes;
}

/** The faults in the expressions of a rule. */
function meaningCauses(rule: ValidationRule, index: number, place: Place): readonly Cause[] {
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
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.base}${place.path.split('.items', 1)[0]}`;
    causes.push(invalidValue(`${field}.rule`, text, detail));
  }
  return causes;
}

function messageCauses(
  { rule = '', message = '' }: ValidationRule,
  field: string,
): readonly Cause[] {
  const said = message.trim();
  if (rule.trim() === '') return [required(`${field}.rule`, 'rule is not specified')];
  if (message !== '' && said === '') {
    return [invalidValue(`${field}.message`, message, 'must be non-empty if specified')];
  }
  if (/[\n\r]/.test(said)) {
    return [invalidValue(`${field}.message`, message, 'must not contain line breaks')];
  }
  if (said !== '' || !/[\n\r]/.test(rule.trim())) return [];
  const text = 'message must be specified if rule contains line breaks';
  return [required(`${field}.message`, text)];
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

/** True if a path such as `.a.b` or `['a']` names something in a schema. */
function leadsSomewhere(schema: JsonSchema, path: string): boolean {
  if (!/^(?:\.[A-Za-z_]\w*|\['(?:[^'\\]|\\.)*'\])+$/.test(path)) return false;
  let here: JsonSchema | null = schema;
  for (const [, name, quoted] of path.matchAll(/\.([A-Za-z_]\w*)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    here = here && memberSchema(here, name ?? quoted ?? '');
  }
  return here !== null;
}
