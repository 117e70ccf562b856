// A policy ready to judge.

import type { KubeObject } from '@taintmgr/sim-cluster/server';
import type { Evaluated } from '../cel/compile.ts';
import type { CelObject } from '../cel/type.ts';
import type { CelValue } from '../cel/value.ts';
import type { Names } from '../policy/environment.ts';
import { checkExpression, declareVariables, type Variable } from '../policy/expressions.ts';
import type { MatchResources } from '../policy/match-resources.ts';
import type { Validation } from '../policy/policy.ts';

/** An expression of a policy; one that does not compile fails whenever it is asked. */
export interface Expression {
  readonly text: string;
  evaluate(bindings: Readonly<Record<string, CelValue>>): Evaluated;
}

export interface CompiledValidation {
  readonly given: Validation;
  readonly expression: Expression;
  readonly message: Expression | null;
}

export interface CompiledPolicy {
  readonly name: string;
  /** True if a failing expression lets the request pass. */
  readonly ignoresFailures: boolean;
  readonly constraints: MatchResources;
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | null;
  readonly conditions: readonly Expression[];
  readonly variables: readonly Variable[];
  /** The type of `variables`; null when the policy declares none. */
  readonly variablesType: CelObject | null;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly value: Expression }[];
}

/** An expression ready to be asked; `variables` is the type of those that it may use, null: none. */
export function compileExpression(
  text: string,
  names: Names,
  variables: CelObject | null = null,
): Expression {
  const checked = checkExpression(text, '', names, variables);
  if ('program' in checked) return { text, evaluate: checked.program.evaluate };
  const error = checked.cause.message;
  return { text, evaluate: () => ({ error }) };
}

/** Compiles a stored policy. */
export function compilePolicy({ metadata, spec }: KubeObject): CompiledPolicy {
  const params = spec.paramKind !== undefined;
  const declared = declareVariables(spec.variables ?? [], params, '');
  const all: Names = { params, authorizer: true };
  const conditions: readonly { readonly expression: string }[] = spec.matchConditions ?? [];
  const validations: readonly Validation[] = spec.validations ?? [];
  const annotations: readonly { readonly key: string; readonly valueExpression: string }[] =
    spec.auditAnnotations ?? [];
  return {
    name: metadata.name,
    ignoresFailures: spec.failurePolicy === 'Ignore',
    constraints: spec.matchConstraints ?? {},
    paramKind: spec.paramKind ?? null,
    conditions: conditions.map(({ expression }) => compileExpression(expression, all)),
    variables: declared.variables,
    variablesType: declared.type,
    validations: validations.map((given) => ({
      given,
      expression: compileExpression(given.expression, all, declared.type),
      message: given.messageExpression
        ? compileExpression(given.messageExpression, { params, authorizer: false }, declared.type)
        : null,
    })),
    annotations: annotations.map(({ key, valueExpression }) => ({
      key,
      value: compileExpression(valueExpression, all, declared.type),
    })),
  };
}
