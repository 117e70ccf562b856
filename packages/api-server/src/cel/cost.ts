// Estimates the worst cost of an expression, as Kubernetes does before it accepts one.
//
// Every node has a cost; operations on lists, maps and texts cost by their size. Sizes come from
// the literals of the expression, and from the caller for the values that it reads.
import type { ASTNode } from '@marcbachmann/cel-js';
import {
  type CallCost,
  callCost,
  namespaces,
  perCharacter,
  times,
  type Valued,
} from './cost-calls.ts';
import {
  type Counter,
  itemsStep,
  keysStep,
  kindOf,
  type Path,
  type SizeAt,
  valuesStep,
} from './cost-values.ts';

// The cost of a macro: that of its expression for one item, times the items there may be.

/** The cost of a macro at the start, for each item beside its body, and at the end. */
interface Loop {
  readonly before: number;
  readonly each: number;
  readonly after: number;
  /** True if the result has as many items as the list it iterates. */
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

/** The cost of using a macro; null for a function. */
function macroCost(
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

const listBase = 10;
const mapBase = 30;

const scalars = [
  'bool',
  'int',
  'uint',
  'double',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
];

/** Counts one expression. */
export class Coster implements Counter {
  readonly #sizeAt: SizeAt;
  /** The names of macros, the innermost last. */
  readonly #locals: { readonly name: string; readonly path: Path }[] = [];
  readonly #sizes = new Map<ASTNode, number>();

  readonly #unknownSize: number;

  /** `unknownSize` stands for sizes that are unknown. */
  constructor(sizeAt: SizeAt, unknownSize: number = Number.POSITIVE_INFINITY) {
    this.#sizeAt = sizeAt;
    this.#unknownSize = unknownSize;
  }

  /** The cost of a node, its parts included. */
  cost(node: ASTNode): number {
    switch (node.op) {
      case 'value':
        return 0;
      case 'id':
        return namespaces.includes(node.args) ? 0 : 1;
      case '.': {
        const [operand] = node.args;
        const isField = ['map', 'message', 'param'].includes(kindOf(operand));
        return this.cost(operand) + (isField ? 1 : 0);
      }
      case 'list':
        return listBase + this.#sum(node.args);
      case 'map':
        return mapBase + this.#sum(node.args.flat());
      case '?:': {
        const [condition, yes, no] = node.args;
        const cost = this.cost(condition) + Math.max(this.cost(yes), this.cost(no));
        this.#sizes.set(node, Math.max(this.size(yes), this.size(no)));
        return cost;
      }
      case '||':
      case '&&':
        return this.#sum(node.args);
      case 'call':
        return this.#call(node, node.args[0], null, node.args[1]);
      case 'rcall':
        return this.#call(node, node.args[0], node.args[1], node.args[2]);
      case '.?':
        return 1 + this.cost(node.args[0]);
      case '!_':
      case '-_':
        return 1 + this.cost(node.args);
      default:
        return this.#operator(node, node.args as readonly [ASTNode, ASTNode]);
    }
  }

  /** The greatest size of a node's value; a node is counted before it is measured. */
  size(node: ASTNode): number {
    const known = this.#sizes.get(node);
    if (known !== undefined) return known;
    if (node.op === 'value') return literalSize(node.args);
    if (node.op === 'list' || node.op === 'map') return node.args.length;
    const path = this.path(node);
    const found = path ? this.#sizeAt(path) : null;
    if (found !== null) return found;
    return scalars.includes(kindOf(node)) ? 1 : this.#unknownSize;
  }

  /** The greatest size of the items of a list. */
  itemSize(node: ASTNode): number {
    const path = this.path(node);
    return (path && this.#sizeAt([...path, itemsStep])) ?? this.#unknownSize;
  }

  path(node: ASTNode): Path {
    const below = (operand: ASTNode, step: string): Path => {
      const path = this.path(operand);
      return path && [...path, step];
    };
    if (node.op === 'id') {
      const local = this.#locals.findLast(({ name }) => name === node.args);
      return local ? local.path : [node.args];
    }
    if (node.op === '.') return below(node.args[0], node.args[1]);
    if (node.op !== '[]') return null;
    return below(node.args[0], kindOf(node.args[0]) === 'list' ? itemsStep : valuesStep);
  }

  /** Counts with names for parts of a value. */
  within<T>(locals: readonly (readonly [string, Path])[], count: () => T): T {
    for (const [name, path] of locals) this.#locals.push({ name, path });
    const counted = count();
    this.#locals.length -= locals.length;
    return counted;
  }

  setSize(node: ASTNode, size: number): void {
    this.#sizes.set(node, size);
  }

  #sum(nodes: readonly ASTNode[]): number {
    return nodes.reduce((sum, node) => sum + this.cost(node), 0);
  }

  #call(node: ASTNode, name: string, receiver: ASTNode | null, args: readonly ASTNode[]): number {
    const macro = macroCost(this, node, name, receiver, args);
    if (macro !== null) return macro;
    const parts = receiver ? [receiver, ...args] : args;
    const costs = this.#sum(parts);
    const valued = (part: ASTNode): Valued => ({
      kind: kindOf(part),
      size: this.size(part),
      itemSize: this.itemSize(part),
      literal: part.op === 'value' ? part.args : null,
    });
    const owner = receiver?.op === 'id' && namespaces.includes(receiver.args) ? null : receiver;
    const own: CallCost = callCost(name, owner && valued(owner), args.map(valued));
    if (own.size !== undefined) {
      this.#sizes.set(node, Number.isFinite(own.size) ? own.size : this.#unknownSize);
    }
    return costs + own.cost;
  }

  #operator(node: ASTNode, [left, right]: readonly [ASTNode, ASTNode]): number {
    const costs = this.cost(left) + this.cost(right);
    const kinds = [kindOf(left), kindOf(right)];
    const isText = kinds.some((kind) => kind === 'string' || kind === 'bytes' || kind === 'dyn');
    const [a, b] = [this.size(left), this.size(right)];
    switch (node.op as string) {
      case '==':
      case '!=':
        return costs + times(Math.min(a, b), perCharacter);
      case '<':
      case '<=':
      case '>':
      case '>=':
        return costs + (isText ? times(Math.min(a, b), perCharacter) : 1);
      case 'in':
        return costs + (kinds[1] === 'map' ? 1 : b);
      case '+':
        if (!isText && !kinds.includes('list')) return costs + 1;
        this.#sizes.set(node, a + b);
        return costs + (isText ? times(a + b, perCharacter) : 1);
      default:
        return costs + 1;
    }
  }
}

function literalSize(value: unknown): number {
  if (typeof value === 'string') return [...value].length;
  return value instanceof Uint8Array ? value.length : 1;
}
