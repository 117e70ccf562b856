// Stops expressions that would run too long: nested loops over large values.
//
// The real server counts while an expression runs, and stops at a million. The library cannot be
// interrupted, so the highest possible cost is computed from the sizes of the values before the
// run. An expression may end earlier than that, so only ten times the limit is stopped.
import type { ASTNode } from '@marcbachmann/cel-js';
import { Coster } from './cost.ts';
import { itemsStep, keysStep, type SizeAt, valuesStep } from './cost-values.ts';
import { partsOf } from './literals.ts';
import { loopNames } from './refused-names.ts';
import type { CelValue } from './value.ts';

const costMax = 10_000_000;
/** The variables that are evaluated only when an expression reads them. */
const lazily: readonly string[] = ['variables', 'authorizer'];

/** In the words of the real server. */
export const tooDear = 'operation cancelled: actual cost limit exceeded';

/** The greatest depth of nested loops in an expression. */
export function loopDepth(node: ASTNode): number {
  const below = Math.max(0, ...partsOf(node).map(loopDepth));
  const isLoop = node.op === 'rcall' && loopNames.has(node.args[0]) && node.args[2].length > 1;
  return isLoop ? below + 1 : below;
}

/** True if an expression may cost far more than the real server allows. */
export function isTooDear(root: ASTNode, bindings: Readonly<Record<string, CelValue>>): boolean {
  return new Coster(sizesIn(bindings), 1).cost(root) > costMax;
}

function sizesIn(bindings: Readonly<Record<string, CelValue>>): SizeAt {
  return ([name = '', ...steps]) => {
    if (lazily.includes(name)) return null;
    let values: readonly unknown[] = [bindings[name]];
    for (const step of steps) values = values.flatMap((value) => partsAt(value, step));
    return values.length === 0
      ? 0
      : values.reduce<number>((max, one) => Math.max(max, sizeOf(one)), 0);
  };
}

function partsAt(value: unknown, step: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === itemsStep) return Array.isArray(value) ? value : [];
  const members = value instanceof Map ? value : new Map(Object.entries(value));
  if (step === keysStep) return [...members.keys()];
  if (step === valuesStep) return Array.isArray(value) ? value : [...members.values()];
  const member: unknown = members.get(step);
  return member === undefined ? [] : [member];
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (value instanceof Map || value instanceof Uint8Array) {
    return value instanceof Map ? value.size : value.length;
  }
  return 1;
}
