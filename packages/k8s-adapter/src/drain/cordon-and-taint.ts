// Cordons and taints a node, each with its mark in one write.
import type { DoneBefore } from '@taintmgr/core/drain';
import { formatTaint, type Taint } from '@taintmgr/core/model';
import { formatTime, type Instant } from '@taintmgr/core/time';
import type { TaintObject } from '../proto/requests.ts';
import { type DrainMark, markOf } from './marks.ts';
import {
  type DrainableNode,
  formatTaintObject,
  type NodeChange,
  type NodePatch,
  passedOn,
} from './node-change.ts';
import { anotherAtWork, type DrainRunName, undoneThere } from './working-mark.ts';

/** The cordon and the taint that a drain sets on its nodes. */
export interface CordonAndTaint extends DrainRunName {
  /** Names the drain on nodes that no earlier run of it has changed. */
  readonly id: string;
  /** True: the drain sets `spec.unschedulable`. */
  readonly cordon: boolean;
  /** The user or program that drains; '': unknown. */
  readonly by: string;
}

/** The changes to a node, and the name under which its mark has them. */
export interface NodeChanges {
  /** True: the node was cordoned. */
  readonly cordoned: boolean;
  /** True: the node got the taint. */
  readonly tainted: boolean;
  /** Of this run, or of the earlier one that it continues; null: there is nothing to undo. */
  readonly id: string | null;
}

/** The fields of a node that say whether a drain would change it. */
type Undrained = Pick<DrainableNode, 'isCordoned' | 'marks'> & {
  readonly taints: readonly Pick<TaintObject, 'key' | 'value' | 'effect'>[];
};

/**
 * Cordons a node, if it is not, and writes down on it that it was this drain: in one write. Other
 * people's changes are not overwritten: on a conflict the node is read again.
 */
export function cordoning(wanted: CordonAndTaint): NodeChange<NodeChanges> {
  return (node) => {
    const { cordoned, id } = missingOn(node, wanted);
    const isMarked = cordoned || markOf(node.marks, wanted.taint) !== undefined;
    const result = { cordoned, tainted: false, id: isMarked ? id : null };
    if (!cordoned) return { kind: 'changed', patch: null, result };
    const patch = { unschedulable: true as const, marks: marksWith(node, wanted, result) };
    return { kind: 'changed', patch, result };
  };
}

/**
 * Taints a node, if it is not, and writes down on it that it was this drain, and that it is at work
 * there: in one write, so that no other program evicts for the taint in between. Refused while
 * another drain is at work there, and where this one was undone. The API server's time dates the
 * taint: the drainer's clock may be wrong, and pods would leave early by as much, or late.
 */
export function tainting(wanted: CordonAndTaint, before?: DoneBefore): NodeChange<NodeChanges> {
  return (node, at) => {
    const another = anotherAtWork(node, wanted, at);
    if (another !== null) return another;
    const mark = markOf(node.marks, wanted.taint);
    if (before === 'marked' && !mark) return { kind: 'refused', message: undoneThere };
    const missing = missingOn(node, wanted);
    // A node that the drain has cordoned before was uncordoned since.
    const isFirst = mark?.cordoned !== true;
    const result = { ...missing, cordoned: !before && isFirst && missing.cordoned };
    const { taints, set } = result.tainted ? taintSet(node, wanted, at) : untouched;
    const work = { run: wanted.run, heartbeat: at, hasEnded: false };
    const marks = marksWith(node, wanted, result, { ...set, by: wanted.by, work });
    const unschedulable = result.cordoned ? { unschedulable: true as const } : {};
    return { kind: 'changed', patch: { ...taints, ...unschedulable, marks }, result };
  };
}

/** The changes that the drain would make to a node, as it was read. */
export function missingOn(
  { taints, isCordoned, marks }: Undrained,
  { id, taint, cordon }: Pick<CordonAndTaint, 'id' | 'taint' | 'cordon'>,
): NodeChanges {
  const name = formatTaint(taint);
  const tainted = !taints.some((one) => formatTaintObject(one) === name);
  const cordoned = cordon && !isCordoned;
  const mark = markOf(marks, taint);
  return { cordoned, tainted, id: mark?.id ?? (tainted || cordoned ? id : null) };
}

/** The taint as it changes the node and the mark. */
interface TaintSet {
  readonly taints: Pick<NodePatch, 'taints'>;
  readonly set: Partial<DrainMark>;
}

const untouched: TaintSet = { taints: {}, set: {} };

/** The taint is put on with the time; one of the same key and effect gives way. */
function taintSet({ taints }: DrainableNode, { taint }: { taint: Taint }, now: Instant): TaintSet {
  const { key, value, effect } = taint;
  const isSameKind = (one: TaintObject): boolean => one.key === key && one.effect === effect;
  const added = { key, ...(value !== '' && { value }), effect, timeAdded: formatTime(now) };
  return {
    taints: { taints: [...taints.filter((one) => !isSameKind(one)), added] },
    set: {
      taint: { ...taint, timeAdded: now },
      tainted: true,
      replaced: taints.find(isSameKind) ?? null,
    },
  };
}

/** The node's marks, with what this drain has set by now. */
function marksWith(
  { marks }: DrainableNode,
  { id, taint, by }: CordonAndTaint,
  changes: NodeChanges,
  set: Partial<DrainMark> = {},
): readonly DrainMark[] {
  const before = markOf(marks, taint);
  const none = { tainted: false, replaced: null, by, work: null };
  const fresh = { taint: { ...taint, timeAdded: null }, ...none };
  const mark: DrainMark = {
    ...(before ?? fresh),
    id: changes.id ?? id,
    cordoned: changes.cordoned || before?.cordoned === true,
    ...set,
  };
  // A taint that is put on again is another one: the former one must not come back.
  const others = changes.tainted && before ? passedOn(marks, before) : marks;
  return [...others.filter((one) => one !== before), mark];
}
