// Has `has(self.a.b)` checked as any other field; the library looks at its first name only.
import type { ASTNode } from '@marcbachmann/cel-js';

interface Checker {
  check(node: ASTNode, context: unknown): unknown;
}

interface Macro {
  readonly args: readonly ASTNode[];
  typeCheck: (checker: Checker, macro: Macro, context: unknown) => unknown;
}

const calls = new WeakMap<object, object>();

/** The `has` that asks for a field, which is where errors about that field are marked. */
export function hasOf(asked: object): object | undefined {
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
