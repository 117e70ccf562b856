// Errors of expressions in the words of Kubernetes' CEL.
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { CelError } from './value.ts';

// Has `has(self.a.b)` checked as any other field; the library looks at its first name only.

interface Checker {
  check(node: ASTNode, context: unknown): unknown;
}

interface Macro {
  readonly args: readonly ASTNode[];
  typeCheck: (checker: Checker, macro: Macro, context: unknown) => unknown;
}

const calls = new WeakMap<object, object>();

/** The `has` that asks for a field, which is where errors about that field are marked. */
function hasOf(asked: object): object | undefined {
  return calls.get(asked);
}

/** Makes each `has` of an expression check its argument before it answers that it is a bool. */
export function checkNestedFields(node: ASTNode): void {
  visit(node);
}

function visit(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item);
    return;
  }
  if (typeof value !== 'object' || value === null || !('meta' in value)) {
    if (isPlain(value)) for (const member of Object.values(value)) visit(member);
    return;
  }
  const { op, args, meta } = value as {
    readonly op: string;
    readonly args: unknown;
    readonly meta: { readonly macro?: Macro; readonly alternate?: unknown };
  };
  if (op === 'call' && Array.isArray(args) && args[0] === 'has' && meta.macro) {
    watch(meta.macro);
    const [asked] = meta.macro.args;
    if (asked) calls.set(asked, value);
  }
  if (meta.alternate) visit(meta.alternate);
  else visit(args);
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor === Object;
}

function watch(macro: Macro): void {
  const { typeCheck } = macro;
  macro.typeCheck = (checker, given, context) => {
    const type = typeCheck(checker, given, context);
    if (given.args[0]) checker.check(given.args[0], context);
    return type;
  };
}

/** The library's record of a type. */
interface Declaration {
  readonly kind: string;
  readonly name: string;
  readonly keyType?: Declaration;
  readonly valueType?: Declaration;
}

/** A node of an expression, as far as error texts look at it. */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  readonly pos: number;
  readonly checkedType?: Declaration;
  readonly argTypes?: readonly Declaration[];
}

interface LibraryError {
  readonly code?: string;
  readonly summary?: string;
  readonly node?: Node;
  readonly range?: { readonly start: number; readonly end: number };
}

const expected =
  "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** `ERROR: <input>:1:5: undefined field 'x'` with the line and a mark below it. */
export function compileErrorText(
  error: unknown,
  expression: string,
  environment: Environment,
): string {
  const { code, node, range, summary = String(error) } = error as LibraryError;
  const at = (offset: number, text: string): string => located(expression, offset, text);
  if (!node || node.op === undefined) {
    const start = range?.start ?? 0;
    const end = at(expression.length, `Syntax error: mismatched input '<EOF>' ${expected}`);
    if (code === 'unterminated_string') {
      const rest = expression.slice(start);
      return `${at(start, `Syntax error: token recognition error at: '${rest}'`)}\n${end}`;
    }
    if (start >= expression.trimEnd().length) return end;
    const token = expression.slice(start, Math.max(range?.end ?? 0, start + 1));
    return at(start, `Syntax error: mismatched input '${token}' ${expected}`);
  }
  const marked = code === 'invalid_logical_operand' ? (wrongOperand(node) ?? node) : node;
  return at(placeOf(marked, expression), problem(code ?? '', summary, node, environment));
}

/** The node that is wrong; null where the library says of none. */
export function culpritOf(error: unknown): object | null {
  const { code, node } = error as LibraryError;
  if (!node || node.op === undefined) return null;
  return code === 'invalid_logical_operand' ? (wrongOperand(node) ?? node) : node;
}

/** An error that this room has found itself, at a node. */
export function errorAt(node: object, text: string, expression: string): string {
  return located(expression, placeOf(node as Node, expression), text);
}

/** The message, the line it is about, and a mark below the place. */
function located(expression: string, offset: number, text: string): string {
  const before = expression.slice(0, offset).split('\n');
  const line = expression.split('\n')[before.length - 1] ?? '';
  const column = before.at(-1)?.length ?? 0;
  return `ERROR: <input>:${before.length}:${column + 1}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function problem(code: string, summary: string, node: Node, environment: Environment): string {
  const [first, second] = Array.isArray(node.args) ? node.args : [node.args];
  switch (code) {
    case 'unknown_variable':
      return undeclared(String(node.args));
    case 'no_such_key':
      return `undefined field '${summary.replace(/^No such key: /, '')}'`;
    case 'invalid_comprehension_range':
      return summary.replace(/^E/, 'e').replace(/\.$/, '');
    case 'invalid_logical_operand':
      return `expected type 'bool' but found '${declarationName(typeOf(wrongOperand(node)))}'`;
    case 'incompatible_ternary_branches':
      return noOverload('_?_:_', `(${operandTypes(node)})`);
    case 'no_such_overload':
      return noOverload(operatorName(node.op), `(${operandTypes(node)})`);
    case 'no_matching_overload': {
      const name = String(first);
      if (!isKnown(name, environment)) return undeclared(name);
      const types = (node.argTypes ?? []).map(declarationName).join(', ');
      const receiver = node.op === 'rcall' ? `${declarationName(typeOf(second))}.` : '';
      return noOverload(name, `${receiver}(${types})`);
    }
    case 'cannot_index_type':
      return `type '${declarationName(typeOf(first))}' does not support field selection`;
    case 'invalid_condition_type': {
      const at = summary.indexOf("got '");
      const found = at < 0 || !summary.endsWith("'") ? '' : summary.slice(at + 5, -1);
      return `expected type 'bool' but found '${found}'`;
    }
    default:
      return summary;
  }
}

export const undeclared = (name: string): string =>
  `undeclared reference to '${name}' (in container '')`;
const noOverload = (name: string, types: string): string =>
  `found no matching overload for '${name}' applied to '${types}'`;

const operatorNames: Readonly<Record<string, string>> = { in: '@in', '!_': '!_', '-_': '-_' };

function operatorName(op: string): string {
  return operatorNames[op] ?? `_${op}_`;
}

function operandTypes({ args }: Node): string {
  const operands = Array.isArray(args) ? args : [args];
  return operands.map((operand) => declarationName(typeOf(operand))).join(', ');
}

/** The operand other than a bool, where both have to be bools. */
function wrongOperand({ args }: Node): Node | undefined {
  const operands = args as readonly Node[];
  return operands.find((operand) => !['bool', 'dyn'].includes(declarationName(typeOf(operand))));
}

function typeOf(value: unknown): Declaration | undefined {
  return (value as Node | undefined)?.checkedType;
}

/** The names in expressions of types that the library names differently. */
const shortNames: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': 'timestamp',
  'google.protobuf.Duration': 'duration',
  CIDR: 'net.CIDR',
  IP: 'net.IP',
  NamedFormat: 'kubernetes.NamedFormat',
  Quantity: 'kubernetes.Quantity',
  Semver: 'kubernetes.Semver',
  URL: 'kubernetes.URL',
};

/** A type as error texts write it. */
export function declarationName(type: Declaration | undefined): string {
  if (!type) return 'dyn';
  if (type.kind === 'list') return `list(${declarationName(type.valueType)})`;
  if (type.kind === 'map') {
    return `map(${declarationName(type.keyType)}, ${declarationName(type.valueType)})`;
  }
  if (type.kind === 'optional') return `optional_type(${declarationName(type.valueType)})`;
  if (/^Object\d+$/.test(type.name)) return 'object';
  return type.kind === 'param' ? 'dyn' : (shortNames[type.name] ?? type.name);
}

function isKnown(name: string, environment: Environment): boolean {
  return environment.getDefinitions().functions.some((known) => known.name === name);
}

/** The place of the mark: at the operator, the dot or the bracket of a call. */
function placeOf(node: Node, expression: string): number {
  const [first, second] = (Array.isArray(node.args) ? node.args : []) as readonly unknown[];
  const after = (from: number, text: string): number => {
    const found = expression.indexOf(text, from);
    return found < 0 ? node.start : found;
  };
  switch (node.op) {
    case '.':
    case '.?':
      if (hasOf(node)) return after((hasOf(node) as Node).start, '(');
      return Math.max(expression.lastIndexOf('.', node.pos), 0);
    case 'call':
      return after(node.start, '(');
    case 'rcall':
      return after(after((second as Node).end, String(first)) + String(first).length, '(');
    case '[]':
    case '[?]':
      return after((first as Node).end, '[');
    case '?:':
      return after((first as Node).end, '?');
    case 'id':
    case 'value':
    case '!_':
    case '-_':
      return node.start;
    default:
      return first === undefined ? node.start : after((first as Node).end ?? 0, node.op);
  }
}

/** The library's messages with their equivalents in Kubernetes; the first match counts. */
const evaluationTexts: readonly (readonly [RegExp, string])[] = [
  [/^No such key: index out of bounds, index (-?\d+).*$/s, 'index out of bounds: $1'],
  [/^No such key: (.*)$/s, 'no such key: $1'],
  [/^timestamp\(\) requires.*$/s, conversionError('google.protobuf.Timestamp')],
  [/^Invalid duration string.*$/s, conversionError('google.protobuf.Duration')],
  [/^(int|uint|double)\(\) type error: cannot convert.*$/s, conversionError('$1')],
  [/^bool\(\) conversion error.*$/s, conversionError('bool')],
  [/^modulo by zero$/, 'modulus by zero'],
  [/^integer overflow.*$/, 'integer overflow'],
  [/^(no such overload|found no matching overload).*$/s, 'no such overload'],
  [/^Logical operator requires.*$/s, 'no such overload'],
  [/^Optional value is not present$/, 'optional.none() dereference'],
  [/^Invalid regular expression: (.*)$/s, 'error parsing regexp: $1'],
  [/^(?:RangeError: )?Invalid time zone specified: (.*)$/s, 'unknown time zone $1'],
];

function conversionError(type: string): string {
  return `type conversion error from 'string' to '${type}'`;
}

/** Describes an error of an evaluation. */
export function evaluationErrorText(error: unknown): string {
  if (error instanceof CelError) return error.message;
  const text = (error as LibraryError).summary ?? String(error);
  const found = evaluationTexts.find(([pattern]) => pattern.test(text));
  return found ? text.replace(found[0], found[1]) : text;
}
