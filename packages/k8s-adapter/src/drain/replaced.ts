// Taints of drains that gave way to those of other drains on the same node.
import { formatTaint } from '@taintmgr/core/model';
import { parseTime } from '@taintmgr/core/time';
import type { TaintObject } from '../proto/node-requests.ts';
import type { DrainMark } from './marks.ts';
import { formatTaintObject } from './node-change.ts';

/** Whether it is the very taint that the drain has put on, and not one put on anew. */
export function isTaintOf({ taint, tainted }: DrainMark, there: TaintObject): boolean {
  if (!tainted || formatTaintObject(there) !== formatTaint(taint)) return false;
  // The API keeps whole seconds.
  const ours = taint.timeAdded === null ? null : Math.floor(taint.timeAdded / 1000) * 1000;
  return parseTime(there.timeAdded ?? '') === ours;
}

/**
 * The marks when the taint of `gone` is not to come back: where it gave way to another drain's, what
 * gave way to it comes back instead. The same list where it gave way to none.
 */
export function passedOn(marks: readonly DrainMark[], gone: DrainMark): readonly DrainMark[] {
  const hides = ({ replaced }: DrainMark): boolean => {
    return replaced !== null && isTaintOf(gone, replaced);
  };
  if (!marks.some(hides)) return marks;
  return marks.map((mark) => (hides(mark) ? { ...mark, replaced: gone.replaced } : mark));
}
