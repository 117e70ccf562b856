// Checks the types of a policy's expressions against the kinds that it matches. Faults refuse
// nothing: the status of the policy shows them.

import type { KubeObject } from '@taintmgr/sim-cluster/server';
import { type ScalarName, type Shape, type Struct, scalar } from '@taintmgr/sim-cluster/server';
import { compile } from '../cel/compile.ts';
import { type CelObject, type CelType, listOf, mapOf } from '../cel/type.ts';
import { namesOf } from './environment.ts';
import { declareVariables } from './expressions.ts';
import type { Validation } from './policy.ts';

/** A kind that a policy is about. */
export interface CheckedKind {
  /** `apps/v1`, `/v1`. */
  readonly groupVersion: string;
  readonly kind: string;
  readonly schema: Struct;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

const compilationFailed = 'compilation failed: ';

/** The faults of each expression, for each of the kinds. */
export function checkTypes(
  { spec }: KubeObject,
  kinds: readonly CheckedKind[],
): readonly ExpressionWarning[] {
  const validations: readonly Validation[] = spec.validations ?? [];
  return validations.flatMap(({ expression, messageExpression }, at) => {
    const field = `spec.validations[${at}]`;
    return [
      ...warnings(spec, kinds, `${field}.expression`, expression, true),
      ...(messageExpression
        ? warnings(spec, kinds, `${field}.messageExpression`, messageExpression, false)
        : []),
    ];
  });
}

function warnings(
  spec: KubeObject['spec'],
  kinds: readonly CheckedKind[],
  fieldRef: string,
  expression: string,
  authorizer: boolean,
): readonly ExpressionWarning[] {
  const params = spec.paramKind !== undefined;
  const { type } = declareVariables(spec.variables ?? [], params, '');
  const texts = kinds.flatMap(({ groupVersion, kind, schema }) => {
    const object = objectType(schema);
    const names = { ...namesOf({ params, authorizer }, type), object, oldObject: object };
    const compiled = compile(expression, names);
    if ('program' in compiled) return [];
    return [`${groupVersion}, Kind=${kind}: ${compiled.error.replace(compilationFailed, '')}\n`];
  });
  return texts.length === 0 ? [] : [{ fieldRef, warning: texts.join('\n') }];
}

const scalars: Readonly<Record<ScalarName, CelType>> = {
  string: 'string',
  bytes: 'bytes',
  bool: 'bool',
  int32: 'int',
  int64: 'int',
  number: 'double',
  // Expressions see texts here, which they turn into times themselves.
  time: 'dyn',
  microTime: 'dyn',
  intOrString: 'dyn',
  quantity: 'dyn',
  any: 'dyn',
  json: 'dyn',
};
const types = new WeakMap<Struct, CelObject>();

function objectType(schema: Struct): CelObject {
  let known = types.get(schema);
  if (!known) {
    const fields = Object.entries(schema.fields).map(([name, shape]) => [name, typeOf(shape)]);
    known = { kind: 'object', name: schema.name, fields: Object.fromEntries(fields) };
    types.set(schema, known);
  }
  return known;
}

function typeOf(shape: Shape): CelType {
  if (typeof shape === 'string') return scalars[scalar(shape).name];
  if (shape.type === 'struct') return objectType(shape);
  if (shape.type === 'list') return listOf(typeOf(shape.items));
  return shape.type === 'map' ? mapOf(typeOf(shape.values)) : 'dyn';
}
