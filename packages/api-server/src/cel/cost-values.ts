// Values of an expression before they are known: where each comes from, and how large it may be.
import type { ASTNode } from '@marcbachmann/cel-js';

/** The greatest number of characters, items or members of a value; null: unknown. */
export type SizeAt = (path: readonly string[]) => number | null;

/** Stands for the items, keys and values in a path. */
export const itemsStep = '@items';
export const keysStep = '@keys';
export const valuesStep = '@values';

/** The way from a variable to a value; null for one that was worked out. */
export type Path = readonly string[] | null;

/** The interface by which macros see the counter of an expression's costs. */
export interface Counter {
  cost(node: ASTNode): number;
  size(node: ASTNode): number;
  path(node: ASTNode): Path;
  setSize(node: ASTNode, size: number): void;
  within<T>(locals: readonly (readonly [string, Path])[], count: () => T): T;
}

interface Typed {
  readonly checkedType?: { readonly kind: string; readonly name: string };
}

/** The kind of a node's value, or its name where that says more. */
export function kindOf(node: ASTNode): string {
  const { kind = 'dyn', name = '' } = (node as Typed).checkedType ?? {};
  return ['list', 'map', 'optional', 'message', 'dyn', 'param'].includes(kind) ? kind : name;
}
