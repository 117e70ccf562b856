// Takes back what a drain has set on a node, and only that.
import { formatTaint } from '@taintmgr/core/model';
import type { TaintObject } from '../proto/requests.ts';
import type { DrainMark } from './marks.ts';
import {
  type ChangedNode,
  type DrainableNode,
  formatTaintObject,
  isTaintOf,
  type NodeChange,
  type NodePatch,
  passedOn,
} from './node-change.ts';

/** The result of an undo on a node. */
export interface NodeUndone {
  readonly uncordoned: boolean;
  readonly untainted: boolean;
  /** A line for each change that stays, with the reason. */
  readonly left: readonly string[];
}

/** True for the mark of a drain to undo. */
export type IsMeant = (mark: DrainMark) => boolean;

/**
 * Returns a test for the marks of a name: the id of a drain, or its taint with or without its
 * effect.
 */
export function isNamed(name: string): IsMeant {
  return ({ id, taint }) => {
    const full = formatTaint(taint);
    return [id, full, full.slice(0, full.lastIndexOf(':'))].includes(name);
  };
}

/** Returns a test for the marks of the drain of this id. */
export function isMarkOf(id: string): IsMeant {
  return (mark) => mark.id === id;
}

/** The managers that set cordons for drains, in metadata.managedFields. */
const drainManagers = ['kubectl-taintmgr', 'taintmgr-controller'];

const nothingUndone: NodeUndone = { uncordoned: false, untainted: false, left: [] };

/**
 * Takes back the changes of drains on a node, and only those: later changes by others are left. A
 * single write for all of it.
 */
export function undoing(isMeant: IsMeant): NodeChange<NodeUndone> {
  return (node) => undone(node, isMeant);
}

/**
 * Takes back the taints that drains have put on a node and leaves it cordoned.
 * The cordon stays theirs, to be taken back later.
 */
export function untainting(isMeant: IsMeant): NodeChange<NodeUndone> {
  return (node) => {
    const { taints, marks, removed } = withoutTaints(node, isMeant);
    const result = { ...nothingUndone, untainted: removed };
    if (!removed && marks === node.marks) return { kind: 'changed', patch: null, result };
    const left = marks.map((mark) => (isMeant(mark) ? untainted(mark) : mark));
    const changes = left.filter((mark) => mark.tainted || mark.cordoned || mark.work);
    const patch = { ...(removed && { taints }), marks: changes };
    return { kind: 'changed', patch, result };
  };
}

function untainted(mark: DrainMark): DrainMark {
  const taint = { ...mark.taint, timeAdded: null };
  return { ...mark, taint, tainted: false, replaced: null, work: null };
}

function undone(node: DrainableNode, isMeant: IsMeant): ChangedNode<NodeUndone> {
  const meant = node.marks.filter(isMeant);
  if (meant.length === 0) return { kind: 'changed', patch: null, result: nothingUndone };
  const { taints, marks, removed, left } = withoutTaints(node, isMeant);
  const rest = marks.filter((mark) => !isMeant(mark));
  const cordon = cordonFate(node, meant, rest);
  const uncordoned = cordon.kind === 'off';
  const patch: NodePatch = {
    ...(removed && { taints }),
    ...(uncordoned && { unschedulable: null }),
    marks: rest.map((mark) =>
      cordon.kind === 'inherited' && mark === cordon.heir ? { ...mark, cordoned: true } : mark,
    ),
  };
  const result = { uncordoned, untainted: removed, left: [...left, ...kept(cordon)] };
  return { kind: 'changed', patch, result };
}

/** The fate of the cordon of a node. */
type CordonFate =
  /** There is none, or these drains have not set it. */
  | { readonly kind: 'none' }
  | { readonly kind: 'off' }
  /** Another drain still counts on it: it is the one to take it off. */
  | { readonly kind: 'inherited'; readonly heir: DrainMark }
  /** The drain's cordon was taken off, and others have cordoned the node since. */
  | { readonly kind: 'foreign'; readonly manager: string };

function cordonFate(
  { isCordoned, cordonManagers }: DrainableNode,
  meant: readonly DrainMark[],
  rest: readonly DrainMark[],
): CordonFate {
  if (!isCordoned || !meant.some(({ cordoned }) => cordoned)) return { kind: 'none' };
  const [manager] = cordonManagers;
  const isOfDrain = cordonManagers.some((one) => drainManagers.includes(one));
  // Without managedFields only the mark can be believed.
  if (manager !== undefined && !isOfDrain) return { kind: 'foreign', manager };
  const [heir] = rest;
  return heir ? { kind: 'inherited', heir } : { kind: 'off' };
}

function kept(cordon: CordonFate): readonly string[] {
  if (cordon.kind === 'inherited') return [`stays cordoned for ${cordon.heir.id}`];
  if (cordon.kind === 'foreign') return [`stays cordoned: ${cordon.manager} has cordoned it since`];
  return [];
}

/** A node without the taints of some drains. */
interface Untainted {
  readonly taints: readonly TaintObject[];
  /** All of them; the same list where no other drain's has changed. */
  readonly marks: readonly DrainMark[];
  /** True where the node had one of the taints. */
  readonly removed: boolean;
  readonly left: readonly string[];
}

/** Taints that gave way come back; one that has given way itself does not come back later. */
function withoutTaints(node: DrainableNode, isMeant: IsMeant): Untainted {
  let { taints, marks } = node;
  let removed = false;
  const left: string[] = [];
  for (const [at, before] of marks.entries()) {
    // The taint that gave way may be another one by now.
    const mark = marks[at] ?? before;
    if (!isMeant(mark) || !mark.tainted) continue;
    marks = passedOn(marks, mark);
    const name = formatTaint(mark.taint);
    const there = taints.find((one) => formatTaintObject(one) === name);
    if (!there) continue;
    if (!isTaintOf(mark, there)) {
      left.push(`keeps ${name}: another client has added it since`);
      continue;
    }
    removed = true;
    taints = taints.filter((one) => one !== there);
    if (mark.replaced) taints = [...taints, mark.replaced];
  }
  return { taints, marks, removed, left };
}
