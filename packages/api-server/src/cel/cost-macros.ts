// What macros cost: what they say of one item, as many times as there may be items.
import type { ASTNode } from '@marcbachmann/cel-js';
import { times } from './cost-calls.ts';
import { type Counter, itemsStep, keysStep, kindOf, valuesStep } from './cost-values.ts';

/** What a macro costs to begin with, for each item beside its body, and at its end. */
interface Loop {
  readonly before: number;
  readonly each: number;
  readonly after: number;
  /** Whether it yields as many as it goes over. */
  readonly isMany: boolean;
}

// A name costs one, a function one, an empty list ten and an empty map thirty.
const loops: Readonly<Record<string, Loop>> = {
  all: { before: 0, each: 3, after: 1, isMany: false },
  exists: { before: 0, each: 4, after: 1, isMany: false },
  exists_one: { before: 0, each: 2, after: 2, isMany: false },
  existsOne: { before: 0, each: 2, after: 2, isMany: false },
  filter: { before: 10, each: 13, after: 1, isMany: true },
  map: { before: 10, each: 12, after: 1, isMany: true },
  sortBy: { before: 10, each: 12, after: 1, isMany: true },
  transformList: { before: 10, each: 12, after: 1, isMany: true },
  transformMap: { before: 30, each: 3, after: 1, isMany: true },
  transformMapEntry: { before: 30, each: 2, after: 1, isMany: true },
};
const twoNames: readonly string[] = ['transformList', 'transformMap', 'transformMapEntry'];

/** What the use of a macro costs; null for a function. */
export function macroCost(
  coster: Counter,
  node: ASTNode,
  name: string,
  receiver: ASTNode | null,
  args: readonly ASTNode[],
): number | null {
  // To see whether something is there costs the way to it.
  if (name === 'has' && args[0]?.op === '.') return coster.cost(args[0].args[0]);
  if (name === 'dyn' && args[0]) return copied(coster, node, args[0]);
  if (!receiver || args[0]?.op !== 'id') return null;
  if (name === 'optMap' || name === 'optFlatMap') return optional(coster, receiver, args);
  const loop = Object.hasOwn(loops, name) ? loops[name] : undefined;
  if (!loop || args.length < 2) return null;
  const isList = kindOf(receiver) === 'list';
  const path = coster.path(receiver);
  const step = (name: string) => path && [...path, name];
  const isTwo = twoNames.includes(name) || (args.length === 3 && name !== 'map');
  const names = args.slice(0, isTwo ? 2 : 1).map((arg) => String(arg.args));
  const first = isTwo ? (isList ? null : keysStep) : isList ? itemsStep : keysStep;
  const places = [first && step(first), step(isList ? itemsStep : valuesStep)] as const;
  const over = coster.cost(receiver);
  const locals = names.map((local, at) => [local, places[at] ?? null] as const);
  const bodies = args.slice(names.length);
  const body = coster.within(locals, () =>
    bodies.reduce((sum, part) => sum + coster.cost(part), 0),
  );
  const count = coster.size(receiver);
  if (loop.isMany) coster.setSize(node, count);
  return over + loop.before + times(count, loop.each + body) + loop.after;
}

function copied(coster: Counter, node: ASTNode, from: ASTNode): number {
  const cost = 1 + coster.cost(from);
  coster.setSize(node, coster.size(from));
  return cost;
}

function optional(coster: Counter, receiver: ASTNode, args: readonly ASTNode[]): number {
  const [name, body] = args as readonly [ASTNode, ASTNode];
  const inner = coster.within([[String(name.args), null]], () => coster.cost(body));
  return coster.cost(receiver) + inner + 3;
}
