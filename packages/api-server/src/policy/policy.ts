// The validation of ValidatingAdmissionPolicies.

import type { Cause, KubeObject } from '@taintmgr/sim-cluster/server';
import {
  duplicateValue,
  invalidValue,
  notSupported,
  qualifiedNameErrors,
  required,
  validateMetadata,
} from '@taintmgr/sim-cluster/server';
import type { CelObject } from '../cel/type.ts';
import type { Names } from './environment.ts';
import { checkExpression, declareVariables } from './expressions.ts';
import { validateMatchResources } from './match-resources.ts';

const failurePolicies = ['Fail', 'Ignore'] as const;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'] as const;
const notSpecified = 'expression is not specified';
const notEmpty = 'must be non-empty if specified';
const noContent = 'validations or auditAnnotations must contain at least one item';

/** A validation of a policy. */
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

interface Named {
  readonly name: string;
  readonly expression: string;
}

/** The rules for a policy; all its expressions are compiled. */
export function validatePolicy(policy: KubeObject): readonly Cause[] {
  const { spec } = policy;
  const params = spec.paramKind !== undefined;
  const given: readonly Named[] = spec.variables ?? [];
  const declared = declareVariables(given, params, 'spec.variables');
  return [
    ...validateMetadata(policy),
    ...known('spec.failurePolicy', spec.failurePolicy, failurePolicies),
    ...(params ? validateParamKind(spec.paramKind) : []),
    ...validateConstraints(spec.matchConstraints),
    ...validateConditions(spec.matchConditions ?? [], 'spec.matchConditions', params),
    ...given.flatMap((variable, at) => validateVariable(variable, at, declared.causes)),
    ...validateContent(policy, params, declared.type),
  ];
}

function known(field: string, value: string, all: readonly string[]): readonly Cause[] {
  return all.includes(value) ? [] : [notSupported(field, value, all)];
}

function validateParamKind(given: Readonly<Record<string, string>>): readonly Cause[] {
  return ['apiVersion', 'kind'].flatMap((member) =>
    given[member] ? [] : [required(`spec.paramKind.${member}`)],
  );
}

function validateConstraints(given: KubeObject['spec']): readonly Cause[] {
  const field = 'spec.matchConstraints';
  if (!given) return [required(field)];
  const isEmpty = (given.resourceRules ?? []).length === 0;
  return [
    ...validateMatchResources(given, field),
    ...(isEmpty ? [required(`${field}.resourceRules`)] : []),
  ];
}

/** The fault in a required expression. */
function wrongIn(
  expression: string,
  field: string,
  names: Names,
  variables: CelObject | null,
  types: Parameters<typeof checkExpression>[4],
): readonly Cause[] {
  if (expression.trim() === '') return [required(field, notSpecified)];
  const checked = checkExpression(expression, field, names, variables, types);
  return 'cause' in checked ? [checked.cause] : [];
}

/** The rules for the conditions at `list`; `params`: they may name parameters. */
export function validateConditions(
  conditions: readonly Named[],
  list: string,
  params: boolean,
): readonly Cause[] {
  return conditions.flatMap(({ name, expression }, at) => {
    const field = `${list}[${at}]`;
    const names = { params, authorizer: true };
    const isDouble = conditions.findIndex((other) => other.name === name) < at;
    const errors = name === '' ? [] : qualifiedNameErrors(name);
    return [
      ...wrongIn(expression, `${field}.expression`, names, null, ['bool']),
      ...(name === '' ? [required(`${field}.name`)] : []),
      ...errors.map((error) => invalidValue(`${field}.name`, name, error)),
      ...(isDouble ? [duplicateValue(`${field}.name`, name)] : []),
    ];
  });
}

function validateVariable(
  { name, expression }: Named,
  at: number,
  causes: ReadonlyMap<number, Cause>,
): readonly Cause[] {
  const field = `spec.variables[${at}]`;
  const wrong = causes.get(at);
  const nameCauses =
    name.trim() === ''
      ? [required(`${field}.name`, 'name is not specified')]
      : /^[A-Za-z_]\w*$/.test(name)
        ? []
        : [invalidValue(`${field}.name`, name, 'must be a valid CEL identifier')];
  if (expression.trim() === '') {
    return [...nameCauses, required(`${field}.expression`, notSpecified)];
  }
  return [...nameCauses, ...(wrong ? [wrong] : [])];
}

function validateContent(
  { metadata, spec }: KubeObject,
  params: boolean,
  variables: CelObject | null,
): readonly Cause[] {
  const validations: readonly Validation[] = spec.validations ?? [];
  const annotations: readonly AuditAnnotation[] = spec.auditAnnotations ?? [];
  if (validations.length === 0 && annotations.length === 0) {
    return ['validations', 'auditAnnotations'].map((member) =>
      required(`spec.${member}`, noContent),
    );
  }
  return [
    ...validations.flatMap((one, at) => validateOne(one, at, params, variables)),
    ...annotations.flatMap(({ key, valueExpression }, at) => {
      const field = `spec.auditAnnotations[${at}]`;
      const shown = `${metadata.name}/${key}`;
      const names = { params, authorizer: true };
      return [
        ...qualifiedNameErrors(shown).map((error) => invalidValue(`${field}.key`, shown, error)),
        ...wrongIn(valueExpression, `${field}.valueExpression`, names, variables, [
          'string',
          'null',
        ]),
        ...(annotations.slice(0, at).some((other) => other.key === key)
          ? [duplicateValue(`${field}.key`, key)]
          : []),
      ];
    }),
  ];
}

function validateOne(
  validation: Validation,
  at: number,
  params: boolean,
  variables: CelObject | null,
): readonly Cause[] {
  const field = `spec.validations[${at}]`;
  const { expression, message = '', messageExpression = '', reason } = validation;
  const names = { params, authorizer: true };
  return [
    ...wrongIn(expression, `${field}.expression`, names, variables, ['bool']),
    ...validateMessageExpression(messageExpression, field, params, variables),
    ...(message !== '' && message.trim() === ''
      ? [invalidValue(`${field}.message`, message, notEmpty)]
      : []),
    ...(message.trim().includes('\n')
      ? [invalidValue(`${field}.message`, message, 'must not contain line breaks')]
      : []),
    ...(reason === undefined ? [] : known(`${field}.reason`, reason, reasons)),
  ];
}

function validateMessageExpression(
  expression: string,
  within: string,
  params: boolean,
  variables: CelObject | null,
): readonly Cause[] {
  const field = `${within}.messageExpression`;
  if (expression === '') return [];
  if (expression.trim() === '') return [invalidValue(field, expression, notEmpty)];
  return wrongIn(expression, field, { params, authorizer: false }, variables, ['string']);
}
