// Compiles the expressions of an admission policy, for its validation and for its enforcement.

import type { Cause } from '@taintmgr/sim-cluster/server';
import { invalidValue } from '@taintmgr/sim-cluster/server';
import { compile, type Program } from '../cel/compile.ts';
import { type CelObject, type CelType, typeName } from '../cel/type.ts';
import { type Names, namesOf, variablesType } from './environment.ts';

/** A variable of a policy, with the type of the variables before it, which it may use. */
export interface Variable {
  readonly name: string;
  readonly program: Program;
  readonly before: CelObject;
}

export type Checked = { readonly program: Program } | { readonly cause: Cause };

/** Compiles an expression that must yield one of these types; any type without them. */
export function checkExpression(
  expression: string,
  field: string,
  names: Names,
  variables: CelObject | null,
  types: readonly CelType[] = [],
): Checked {
  const compiled = compile(expression, namesOf(names, variables));
  if ('error' in compiled) return { cause: invalidValue(field, expression, compiled.error) };
  const { program } = compiled;
  const found = typeName(program.type);
  const wanted = types.map(typeName);
  if (types.length === 0 || wanted.includes(found)) return { program };
  const list = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(' ')}]`;
  return { cause: invalidValue(field, expression, `must evaluate to ${list} but got ${found}`) };
}

function failing(expression: string, { message: error }: Cause): Program {
  return { expression, type: 'dyn', evaluate: () => ({ error }), maxCost: () => 0 };
}

interface Given {
  readonly name: string;
  readonly expression: string;
}

export interface Declared {
  readonly variables: readonly Variable[];
  /** The type of `variables`; null when the policy declares none. */
  readonly type: CelObject | null;
  /** The fault of each expression, by its index. */
  readonly causes: ReadonlyMap<number, Cause>;
}

/** Compiles the variables of a policy, each with those before it; `field` is where they are. */
export function declareVariables(
  given: readonly Given[],
  params: boolean,
  field: string,
): Declared {
  const variables: Variable[] = [];
  const causes = new Map<number, Cause>();
  if (given.length === 0) return { variables, type: null, causes };
  let type = variablesType({});
  for (const [index, { name, expression }] of given.entries()) {
    const at = `${field}[${index}].expression`;
    const checked = checkExpression(expression, at, { params, authorizer: true }, type);
    // A faulty variable is still declared, so that later expressions are not faulty because of it.
    if ('cause' in checked) causes.set(index, checked.cause);
    const program = 'program' in checked ? checked.program : failing(expression, checked.cause);
    variables.push({ name, program, before: type });
    type = variablesType({ ...type.fields, [name]: program.type });
  }
  return { variables, type, causes };
}
