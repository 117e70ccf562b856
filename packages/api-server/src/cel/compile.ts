// Compiles CEL expressions and evaluates them, with errors in the words of Kubernetes.
import { Environment, type ParseResult, type TypeCheckResult } from '@marcbachmann/cel-js';
import { entry } from '@taintmgr/sim-cluster/server';
import { Coster } from './cost.ts';
import type { SizeAt } from './cost-values.ts';
import {
  checkNestedFields,
  compileErrorText,
  culpritOf,
  declarationName,
  errorAt,
  evaluationErrorText,
  undeclared,
} from './error-text.ts';
import { addLibrary } from './library.ts';
import { literalFault } from './literals.ts';
import { refusedName } from './refused-names.ts';
import { isTooDear, loopDepth, tooDear } from './run-cost.ts';
import type { CelObject, CelType } from './type.ts';
import { type CelValue, celEqual, classOf } from './value.ts';

// Checks the types of an expression to its end, where the library stops at the first that does not fit.

const errorsMax = 20;

interface CheckedAll {
  readonly checked: TypeCheckResult;
  /** In the order of their places. */
  readonly errors: readonly string[];
}

/** Unknown stands for any faulty part, so that the rest is still checked. */
function checkAll(parsed: ParseResult, expression: string, environment: Environment): CheckedAll {
  const errors = new Set<string>();
  let checked = parsed.check();
  for (let left = errorsMax; !checked.valid && left > 0; left--) {
    errors.add(compileErrorText(checked.error, expression, environment));
    const culprit = culpritOf(checked.error) as { checkedType?: unknown } | null;
    if (!culprit || culprit.checkedType !== undefined) break;
    culprit.checkedType = unknownType(environment);
    checked = parsed.check();
  }
  return { checked, errors: [...errors].sort(byPlace) };
}

/** The type of an unknown value, which fits everything. */
function unknownType(environment: Environment): unknown {
  const { ast, check } = environment.parse('dyn(1)');
  check();
  return (ast as { readonly checkedType?: unknown }).checkedType;
}

function byPlace(a: string, b: string): number {
  const [at, other] = [a, b].map((text) => /:(\d+):(\d+):/.exec(text)?.slice(1).map(Number) ?? []);
  const [line = 0, column = 0] = at ?? [];
  const [otherLine = 0, otherColumn = 0] = other ?? [];
  return line - otherLine || column - otherColumn;
}

/** An expression that can be evaluated any number of times. */
export interface Program {
  readonly expression: string;
  /** The type of the result. */
  readonly type: CelType;
  /** Bindings are values as `toCel` makes them; what the expression does not read may be left out. */
  evaluate(bindings: Readonly<Record<string, CelValue>>): Evaluated;
  /** The highest possible cost, by the sizes of the values it reads. */
  maxCost(sizes: SizeAt): number;
}

export type Evaluated = { readonly value: CelValue } | { readonly error: string };
export type Compiled = { readonly program: Program } | { readonly error: string };

/** The variables that an expression may use, by name. */
export type Variables = Readonly<Record<string, CelType>>;

/**
 * Compiles an expression. A name that is not among `variables` is an error, as are unknown fields
 * of declared objects and operands that do not fit; the text of the error begins with
 * `compilation failed: ERROR: <input>:1:5: …`.
 */
export function compile(expression: string, variables: Variables): Compiled {
  const { environment, objects } = environmentOf(variables);
  try {
    const parsed = environment.parse(expression);
    const refused = refusedName(parsed.ast);
    if (refused) {
      const name = refused.op === 'id' ? refused.args : (refused.args as readonly unknown[])[0];
      return wrong(errorAt(refused, undeclared(String(name)), expression));
    }
    checkNestedFields(parsed.ast);
    const { checked, errors } = checkAll(parsed, expression, environment);
    if (errors.length > 0) return wrong(errors.join('\n'));
    const fault = literalFault(parsed.ast, (type) => declarationName(type as never));
    if (fault) return wrong(errorAt(fault.node, fault.text, expression));
    const type = readType(checked.type ?? 'dyn', objects);
    const mayBeDear = loopDepth(parsed.ast) > 1;
    return {
      program: {
        expression,
        type,
        evaluate: (bindings) =>
          mayBeDear && isTooDear(parsed.ast, bindings) ? { error: tooDear } : run(parsed, bindings),
        maxCost: (sizes) => new Coster(sizes).cost(parsed.ast),
      },
    };
  } catch (error) {
    return wrong(compileErrorText(error, expression, environment));
  }
}

function wrong(text: string): Compiled {
  return { error: `compilation failed: ${text}` };
}

function run(
  parsed: (context: Record<string, CelValue>) => unknown,
  bindings: Readonly<Record<string, CelValue>>,
): Evaluated {
  try {
    return { value: parsed(bindings) };
  } catch (error) {
    return { error: evaluationErrorText(error) };
  }
}

interface Declared {
  readonly environment: Environment;
  /** Types by the name under which the environment knows them. */
  readonly objects: ReadonlyMap<string, CelObject>;
}

const base: Environment = new Environment({
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
});
addLibrary(base);
const declared = new WeakMap<Variables, Declared>();

/** Environments are dear; rules that share their variables share one. */
function environmentOf(variables: Variables): Declared {
  let known = declared.get(variables);
  if (!known) {
    const objects = new Map<string, CelObject>();
    const environment = base.clone();
    for (const [name, type] of Object.entries(variables)) {
      environment.registerVariable(name, declare(type, environment, objects));
    }
    known = { environment, objects };
    declared.set(variables, known);
  }
  return known;
}

/** The name of a type within an environment, which learns the objects in it. */
function declare(type: CelType, environment: Environment, objects: Map<string, CelObject>): string {
  if (type === 'timestamp') return 'google.protobuf.Timestamp';
  if (type === 'duration') return 'google.protobuf.Duration';
  if (typeof type === 'string') return type;
  const inner = (part: CelType): string => declare(part, environment, objects);
  switch (type.kind) {
    case 'list':
      return `list<${inner(type.items)}>`;
    case 'map':
      return `map<${inner(type.keys)}, ${inner(type.values)}>`;
    case 'optional':
      return `optional<${inner(type.of)}>`;
    case 'object':
      return declareObject(type, environment, objects);
  }
}

function declareObject(
  type: CelObject,
  environment: Environment,
  objects: Map<string, CelObject>,
): string {
  const { name, make } = classOf(type);
  if (objects.has(name)) return name;
  const inner = (part: CelType): string => declare(part, environment, objects);
  const fields = Object.entries(type.fields).map(([field, part]) => [field, inner(part)]);
  objects.set(name, type);
  environment.registerType(name, { ctor: make, fields: Object.fromEntries(fields) });
  environment.registerOperator(`${name} == ${name}`, celEqual);
  // Every object may be missing, as that of a DELETE is.
  environment.registerOperator(`${name} == null`, celEqual);
  for (const { name: method, takes, returns, call } of type.methods ?? []) {
    const signature = `${name}.${method}(${takes.map(inner).join(', ')}): ${inner(returns)}`;
    environment.registerFunction(signature, call, { async: false });
  }
  return name;
}

/** A type as the library names it. */
function readType(name: string, objects: ReadonlyMap<string, CelObject>): CelType {
  const parts = /^(list|map|optional|dyn)<(.*)>$/.exec(name);
  const inner = parts?.[2] ?? 'dyn';
  const [kind] = /^\w+/.exec(name) ?? [''];
  if (parts?.[1] === 'dyn') return 'dyn';
  if (kind === 'list') return { kind, items: readType(inner, objects) };
  if (kind === 'optional') return { kind, of: readType(inner, objects) };
  if (kind === 'map') {
    const comma = inner.indexOf(', ');
    if (comma < 0) return { kind, keys: 'dyn', values: 'dyn' };
    return {
      kind,
      keys: readType(inner.slice(0, comma), objects),
      values: readType(inner.slice(comma + 2), objects),
    };
  }
  return objects.get(name) ?? entry(scalars, name) ?? 'dyn';
}

const scalars: Readonly<Record<string, CelType>> = {
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  null: 'null',
  type: 'type',
  'google.protobuf.Timestamp': 'timestamp',
  'google.protobuf.Duration': 'duration',
};
