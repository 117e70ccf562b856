// Names that the library knows, and expressions of Kubernetes do not.
import type { ASTNode } from '@marcbachmann/cel-js';
import { partsOf } from './literals.ts';

/** The macros that go over lists and maps. */
export const loopNames: ReadonlySet<string> = new Set(
  (
    'all exists exists_one existsOne map filter sortBy ' +
    'transformList transformMap transformMapEntry'
  ).split(' '),
);

/** Names that are only macros: a call with other arguments is an undeclared reference. */
const macros: ReadonlySet<string> = new Set([...loopNames, 'has', 'optMap', 'optFlatMap']);

/** The first such name of an expression: `cel.bind`, or a macro that is used as none. */
export function refusedName(node: ASTNode): ASTNode | null {
  if (node.op === 'id' && node.args === 'cel') return node;
  const isCall = node.op === 'call' || node.op === 'rcall';
  if (isCall && macros.has(node.args[0]) && !isExpanded(node)) return node;
  for (const part of partsOf(node)) {
    const found = refusedName(part);
    if (found) return found;
  }
  return null;
}

/** True if the library has read a call as a macro. */
function isExpanded(node: ASTNode): boolean {
  const { meta } = node as unknown as { readonly meta?: { macro?: unknown; alternate?: unknown } };
  return meta?.macro !== undefined || meta?.alternate !== undefined;
}
