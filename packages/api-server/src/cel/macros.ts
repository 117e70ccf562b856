// The values that macros see, and the macros of Kubernetes that the library lacks: matches, sortBy, optMap.
import { type ASTNode, type Environment, Optional } from '@marcbachmann/cel-js';
import { goRegExp } from './regular-expression.ts';
import { CelError, type CelValue, compareValues, type Ordered } from './value.ts';

/** The part of the library's type record that macros read. */
export interface Type {
  readonly kind: string;
  readonly name: string;
  readonly keyType?: Type;
  readonly valueType?: Type;
  isDynOrBool(): boolean;
}

/** Names and their values within a macro. */
export interface Scope {
  forkWithVariable(name: string, type: Type): Scope;
  reuse(outer: Scope): Scope;
  setIterValue(value: CelValue, evaluator: Evaluator): Scope;
}

export interface Checker {
  readonly registry: {
    getType(name: string): Type;
    getListType(items: Type): Type;
    getMapType(keys: Type, values: Type): Type;
    getOptionalType(of: Type): Type;
  };
  check(node: ASTNode, scope: Scope): Type;
  formatType(type: Type): string;
  createError(code: string, text: string, node: object): Error;
}

export interface Evaluator {
  run(node: ASTNode, scope: Scope): CelValue;
}

/** A macro where it is used: the library asks it for its type, then for its values. */
export interface Use<Self> {
  readonly typeCheck: (checker: Checker, use: Self, scope: Scope) => Type;
  readonly evaluate: (evaluator: Evaluator, use: Self, scope: Scope) => CelValue;
  readonly async: false;
}

/** A macro and what stands before its dot and between its brackets. */
export interface Call {
  readonly ast: ASTNode;
  readonly receiver: ASTNode;
  readonly args: readonly ASTNode[];
}

/** The name that a macro gives to a value. */
export function nameOf(checker: Checker, node: ASTNode | undefined): string {
  if (node?.op === 'id') return String(node.args);
  throw checker.createError(
    'invalid_macro_argument',
    'argument must be a simple name',
    node ?? ({} as ASTNode),
  );
}

/** Adds all of them. The library finds macros by name and number of arguments, whatever they are called on. */
export function addMacros(environment: Environment): void {
  environment.registerFunction('list.matches(ast): bool', matches);
  environment.registerFunction('matches(string, string): bool', doesMatch);
  environment.registerFunction('list.sortBy(ast, ast): list<dyn>', named(sortBy));
  environment.registerFunction('list.optMap(ast, ast): dyn', named(optMap));
  environment.registerFunction('list.optFlatMap(ast, ast): dyn', named(optFlatMap));
}

function doesMatch(text: CelValue, pattern: CelValue): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string') {
    throw new CelError('no such overload');
  }
  const compiled = goRegExp(pattern);
  if ('error' in compiled) throw new CelError(compiled.error);
  return compiled.pattern.test(text);
}

/** The library's own reads the regular expressions of JavaScript. */
interface Matches extends Use<Matches>, Call {}

const matches = (call: Call): Matches => ({
  ...call,
  typeCheck: (checker, { ast, receiver, args }, scope) => {
    const types = [receiver, ...args].map((node) => checker.check(node, scope));
    if (types.every(({ kind, name }) => kind === 'dyn' || name === 'string')) {
      return checker.registry.getType('bool');
    }
    const { op, start, end, pos } = ast;
    const node = { op, args: ast.args, start, end, pos, argTypes: types.slice(1) };
    throw checker.createError('no_matching_overload', 'matches', node);
  },
  evaluate: (evaluator, { receiver, args: [pattern] }, scope) =>
    doesMatch(evaluator.run(receiver, scope), evaluator.run(pattern as ASTNode, scope)),
  async: false,
});

/** A macro with one name and one expression over it. */
interface Named extends Use<Named>, Call {
  inner: Scope | null;
}

interface NamedMacro {
  /** The type of a named part of the type before the dot; null: there is none. */
  inside(checker: Checker, over: Type): Type | null;
  typeOf(checker: Checker, over: Type, body: Type, node: ASTNode): Type;
  run(over: CelValue, body: (value: CelValue) => CelValue): CelValue;
}

const named =
  (macro: NamedMacro) =>
  (call: Call): Named => ({
    ...call,
    inner: null,
    typeCheck: (checker, use, scope) => {
      const [name, body] = use.args as readonly [ASTNode, ASTNode];
      const over = checker.check(use.receiver, scope);
      const inside = over.kind === 'dyn' ? over : macro.inside(checker, over);
      if (!inside) throw checker.createError('no_such_overload', 'no such overload', use.receiver);
      use.inner = scope.forkWithVariable(nameOf(checker, name), inside);
      return macro.typeOf(checker, over, checker.check(body, use.inner), body);
    },
    evaluate: (evaluator, use, scope) => {
      const inner = use.inner?.reuse(scope);
      const body = use.args[1] as ASTNode;
      return macro.run(evaluator.run(use.receiver, scope), (value) => {
        if (!inner) throw new CelError('no such overload');
        return evaluator.run(body, inner.setIterValue(value, evaluator));
      });
    },
    async: false,
  });

const sortBy: NamedMacro = {
  inside: (_checker, { kind, valueType }) => (kind === 'list' ? (valueType ?? null) : null),
  typeOf: (_checker, over) => over,
  run: (over, body) => {
    if (!Array.isArray(over)) throw new CelError('no such overload');
    const keyed = over.map((item: CelValue) => [body(item) as Ordered, item] as const);
    return keyed.sort(([a], [b]) => compareValues(a, b)).map(([, item]) => item);
  },
};

const ofOptional = (_checker: Checker, { kind, valueType }: Type): Type | null =>
  kind === 'optional' ? (valueType ?? null) : null;

function optionalOf(over: CelValue): Optional {
  if (over instanceof Optional) return over;
  throw new CelError('no such overload');
}

const optMap: NamedMacro = {
  inside: ofOptional,
  typeOf: ({ registry }, _over, body) => registry.getOptionalType(body),
  run: (over, body) => {
    const optional = optionalOf(over);
    return optional.hasValue() ? Optional.of(body(optional.value())) : optional;
  },
};

const optFlatMap: NamedMacro = {
  inside: ofOptional,
  typeOf: (checker, _over, body, node) => {
    if (body.kind === 'optional' || body.kind === 'dyn') return body;
    throw checker.createError('no_such_overload', 'no such overload', node);
  },
  run: (over, body) => {
    const optional = optionalOf(over);
    return optional.hasValue() ? optionalOf(body(optional.value())) : optional;
  },
};
