// Checks the literals of a well-typed expression as Kubernetes does: durations, times, patterns, texts with
// clauses, lists of one type.
import type { ASTNode } from '@marcbachmann/cel-js';
import { misfit, readFormat } from './format.ts';
import { goRegExp } from './regular-expression.ts';
import { CelError } from './value.ts';

/** Something wrong, and the node where the mark goes. */
export interface LiteralFault {
  readonly node: ASTNode;
  readonly text: string;
}

/** The library's finding about a node's type. */
interface Typed {
  readonly checkedType?: Type;
}
interface Type {
  readonly kind: string;
  readonly name: string;
}

/** The first fault of an expression that was checked; null: none. `nameOf` writes types as error texts do. */
export function literalFault(
  root: ASTNode,
  nameOf: (type: unknown) => string,
): LiteralFault | null {
  let fault: LiteralFault | null = null;
  const visit = (node: ASTNode, inFormat: boolean): void => {
    const isFormat = node.op === 'rcall' && node.args[0] === 'format';
    fault ??= callFault(node) ?? (isFormat ? formatFault(node, nameOf) : null);
    if (!inFormat && !isFormat) fault ??= mixedFault(node, nameOf);
    for (const part of partsOf(node)) visit(part, inFormat || isFormat);
  };
  visit(root, false);
  return fault;
}

/** The nodes right below one. */
export function partsOf(node: ASTNode): readonly ASTNode[] {
  const { args } = node;
  const all = (Array.isArray(args) ? args.flat(2) : [args]) as readonly unknown[];
  return all.filter(isNode);
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value;
}

const literalText = (node: ASTNode | undefined): string | null =>
  node?.op === 'value' && typeof node.args === 'string' ? node.args : null;

const durationPattern = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)$/;

const readable: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => durationPattern.test(text),
  timestamp: (text) => timePattern.test(text) && !Number.isNaN(Date.parse(text)),
  matches: (text) => 'pattern' in goRegExp(text),
};

/** Arguments that could never be read. */
function callFault(node: ASTNode): LiteralFault | null {
  if (node.op !== 'call' && node.op !== 'rcall') return null;
  const name = node.args[0];
  const given = node.op === 'rcall' ? node.args[2] : node.args[1];
  const argument = name === 'matches' ? given.at(-1) : given[0];
  const text = literalText(argument);
  if (!argument || text === null || !Object.hasOwn(readable, name)) return null;
  return readable[name]?.(text) === false
    ? { node: argument, text: `invalid ${name} argument` }
    : null;
}

function formatFault(node: ASTNode, nameOf: (type: unknown) => string): LiteralFault | null {
  if (node.op !== 'rcall') return null;
  const text = literalText(node.args[1]);
  const list = node.args[2][0];
  if (text === null || list?.op !== 'list') return null;
  const values = list.args;
  try {
    const clauses = readFormat(text, values.length).filter((part) => typeof part !== 'string');
    for (const [at, clause] of clauses.entries()) {
      const value = values[at] as ASTNode;
      const type = (value as Typed).checkedType;
      const wrong = isDynamic(type) ? null : misfit(clause, formatName(type, nameOf));
      if (wrong !== null) return { node: value, text: wrong };
    }
    if (values.length <= clauses.length) return null;
    const counts = `(expected ${clauses.length}, got ${values.length})`;
    return { node, text: `too many arguments supplied to string.format ${counts}` };
  } catch (error) {
    if (error instanceof CelError) return { node, text: error.message };
    throw error;
  }
}

const isDynamic = (type: Type | undefined): boolean => !type || /dyn|param/.test(type.kind);

function formatName(type: Type | undefined, nameOf: (type: unknown) => string): string {
  if (type?.kind === 'list' || type?.kind === 'map') return type.kind;
  const full = { timestamp: 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration' };
  const name = nameOf(type);
  return (full as Readonly<Record<string, string>>)[name] ?? (name === 'null' ? 'null_type' : name);
}

/** The members of a list, and the keys and values of a map, are of one type. */
function mixedFault(node: ASTNode, nameOf: (type: unknown) => string): LiteralFault | null {
  if (node.op === 'list') return mismatch(node.args, nameOf);
  if (node.op !== 'map') return null;
  const keys = node.args.map(([key]) => key);
  const values = node.args.map(([, value]) => value);
  return mismatch(keys, nameOf) ?? mismatch(values, nameOf);
}

function mismatch(
  nodes: readonly ASTNode[],
  nameOf: (type: unknown) => string,
): LiteralFault | null {
  const [first, ...rest] = nodes.map((node) => ({
    node,
    type: nameOf((node as Typed).checkedType),
  }));
  // An empty list is of any type.
  const differs = (a: string, b: string): boolean => a !== b && !/\bdyn\b/.test(`${a} ${b}`);
  const other = first && rest.find(({ type }) => differs(first.type, type));
  if (!first || !other) return null;
  const text = `expected type '${first.type}' but found '${other.type}'`;
  return { node: other.node, text };
}
