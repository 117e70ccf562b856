// Macros that have a name for the key and one for the value: `list.all(i, v, i < v)`, `map.transformMap(k, v, v + 1)`.
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import {
  type Call,
  type Checker,
  type Evaluator,
  nameOf,
  type Scope,
  type Type,
  type Use,
} from './macros.ts';
import { CelError, type CelValue, celEqual } from './value.ts';

/** A use of a macro in an expression. */
interface TwoVariables extends Use<TwoVariables> {
  readonly over: ASTNode;
  readonly names: readonly [ASTNode, ASTNode];
  /** Null: every entry counts. */
  readonly filter: ASTNode | null;
  readonly body: ASTNode;
  readonly kind: Kind;
  scopes: readonly [Scope, Scope] | null;
}

type Entry = readonly [CelValue, CelValue];
/** Works out the body for one entry. */
type Body = (entry: Entry) => CelValue;

interface Kind {
  readonly mayFilter: boolean;
  typeOf(checker: Checker, key: Type, body: Type, node: ASTNode): Type;
  run(entries: readonly Entry[], body: Body): CelValue;
}

const quantifier = (run: Kind['run']): Kind => ({
  mayFilter: false,
  typeOf: (checker, _key, body, node) => {
    if (body.isDynOrBool()) return checker.registry.getType('bool');
    const text = `expected type 'bool' but found '${checker.formatType(body)}'`;
    throw checker.createError('predicate_not_bool', text, node);
  },
  run,
});

/** An entry that decides absorbs the errors of others. */
function untilOne(entries: readonly Entry[], body: Body, deciding: boolean): boolean {
  let failed: { readonly error: unknown } | null = null;
  for (const entry of entries) {
    try {
      if (asBool(body(entry)) === deciding) return deciding;
    } catch (error) {
      failed ??= { error };
    }
  }
  if (failed) throw failed.error;
  return !deciding;
}

function asBool(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw new CelError('no such overload');
  return value;
}

const kinds: Readonly<Record<string, Kind>> = {
  all: quantifier((entries, body) => untilOne(entries, body, false)),
  exists: quantifier((entries, body) => untilOne(entries, body, true)),
  existsOne: quantifier(isOne),
  exists_one: quantifier(isOne),
  transformList: {
    mayFilter: true,
    typeOf: ({ registry }, _key, body) => registry.getListType(body),
    run: (entries, body) => entries.map(body),
  },
  transformMap: {
    mayFilter: true,
    typeOf: ({ registry }, key, body) => registry.getMapType(key, body),
    run: (entries, body) => mapOf(entries.map((entry) => [entry[0], body(entry)])),
  },
  transformMapEntry: {
    mayFilter: true,
    typeOf: (checker, _key, body, node) => {
      if (body.kind === 'map' || body.kind === 'dyn') return body;
      const text = `expected a map but found '${checker.formatType(body)}'`;
      throw checker.createError('entry_not_map', text, node);
    },
    run: (entries, body) => mapOf(entries.flatMap((entry) => entriesOf(body(entry)) ?? [])),
  },
};

function isOne(entries: readonly Entry[], body: Body): boolean {
  return entries.filter((entry) => asBool(body(entry))).length === 1;
}

function mapOf(entries: readonly Entry[]): ReadonlyMap<CelValue, CelValue> {
  const map = new Map<CelValue, CelValue>();
  for (const [key, value] of entries) {
    if ([...map.keys()].some((known) => celEqual(known, key))) {
      throw new CelError(`insert failed: key ${String(key)} already exists`);
    }
    map.set(key, value);
  }
  return map;
}

/** The keys, or indexes, and the values; null for a value without entries. */
function entriesOf(value: CelValue): readonly Entry[] | null {
  if (Array.isArray(value)) return value.map((item, at) => [BigInt(at), item]);
  if (value instanceof Map) return [...value];
  return isPlain(value) ? Object.entries(value) : null;
}

/** True for the value of a literal such as `{'a': 1}`. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Adds all of them to an environment. The library finds macros by name and number of arguments. */
export function addTwoVariableMacros(environment: Environment): void {
  for (const [name, kind] of Object.entries(kinds)) {
    environment.registerFunction(`list.${name}(ast, ast, ast): dyn`, expander(kind));
    if (!kind.mayFilter) continue;
    environment.registerFunction(`list.${name}(ast, ast, ast, ast): dyn`, expander(kind));
  }
}

const expander =
  (kind: Kind) =>
  ({ receiver, args }: Call): TwoVariables => {
    const [first, second, ...rest] = args as readonly [ASTNode, ASTNode, ...ASTNode[]];
    const body = rest.at(-1) as ASTNode;
    const filter = rest.length > 1 ? (rest[0] as ASTNode) : null;
    const names = [first, second] as const;
    return {
      over: receiver,
      names,
      filter,
      body,
      kind,
      scopes: null,
      typeCheck,
      evaluate,
      async: false,
    };
  };

function typeCheck(checker: Checker, use: TwoVariables, scope: Scope): Type {
  const over = checker.check(use.over, scope);
  const [key, value] = partTypes(checker, use.over, over);
  const outer = scope.forkWithVariable(nameOf(checker, use.names[0]), key);
  const inner = outer.forkWithVariable(nameOf(checker, use.names[1]), value);
  use.scopes = [outer, inner];
  if (use.filter) {
    const filter = checker.check(use.filter, inner);
    quantifier(isOne).typeOf(checker, key, filter, use.filter);
  }
  return use.kind.typeOf(checker, key, checker.check(use.body, inner), use.body);
}

function partTypes(checker: Checker, node: ASTNode, over: Type): readonly [Type, Type] {
  const { registry } = checker;
  const dyn = registry.getType('dyn');
  if (over.kind === 'list') return [registry.getType('int'), over.valueType ?? dyn];
  if (over.kind === 'map') return [over.keyType ?? dyn, over.valueType ?? dyn];
  if (over.kind === 'dyn') return [dyn, dyn];
  throw checker.createError(
    'invalid_comprehension_range',
    rangeText(checker.formatType(over)),
    node,
  );
}

function rangeText(type: string): string {
  return `expression of type '${type}' cannot be range of a comprehension (must be list, map, or dynamic)`;
}

function evaluate(evaluator: Evaluator, use: TwoVariables, scope: Scope): CelValue {
  const entries = entriesOf(evaluator.run(use.over, scope));
  if (!entries || !use.scopes) throw new CelError("got 'types.Bool', expected iterable type");
  const outer = use.scopes[0].reuse(scope);
  const inner = use.scopes[1].reuse(outer);
  const within = (node: ASTNode, [key, value]: Entry): CelValue => {
    outer.setIterValue(key, evaluator);
    return evaluator.run(node, inner.setIterValue(value, evaluator));
  };
  const { filter } = use;
  const kept = filter ? entries.filter((entry) => asBool(within(filter, entry))) : entries;
  return use.kind.run(kept, (entry) => within(use.body, entry));
}
