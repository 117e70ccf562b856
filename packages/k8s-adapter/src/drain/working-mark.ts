// The mark by which a drain shows on a node that it is at work there, and that it has ended.
import type { Taint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { type DrainMark, drainName, isAtWork, markOf } from './marks.ts';
import type { DrainableNode, NodeChange, RefusedChange } from './node-change.ts';

/** The message of a drain that stops on a node whose mark is gone. */
export const undoneThere = 'the drain was undone there';

/** A run of a drain. */
export interface DrainRunName {
  readonly taint: Taint;
  /** Distinguishes this run from an earlier one that it continues. */
  readonly run: string;
}

/** Shows that the drain is still at work on a node; refused where it is not any more. */
export function renewing({ run, taint }: DrainRunName): NodeChange<undefined> {
  return ({ marks }, at) => {
    const mark = markOf(marks, taint);
    if (mark?.work?.run !== run) return lossOf(mark);
    // Another text each time, whatever the server's clock does.
    const heartbeat = Math.max(at, mark.work.heartbeat + 1000);
    const renewed = { ...mark, work: { ...mark.work, heartbeat } };
    const changed = marks.map((one) => (one === mark ? renewed : one));
    return { kind: 'changed', patch: { marks: changed }, result: undefined };
  };
}

/**
 * Shows that the drain has ended on a node. Where it has left none of its pods, other programs may
 * evict at once; otherwise after the time that people have to undo it.
 */
export function ending({ run, taint }: DrainRunName, isDrained: boolean): NodeChange<undefined> {
  return ({ marks }) => {
    const mark = markOf(marks, taint);
    if (mark?.work?.run !== run) return { kind: 'changed', patch: null, result: undefined };
    const ended = { ...mark, work: isDrained ? null : { ...mark.work, hasEnded: true } };
    const changed = marks
      .map((one) => (one === mark ? ended : one))
      .filter((one) => one.tainted || one.cordoned || one.work);
    return { kind: 'changed', patch: { marks: changed }, result: undefined };
  };
}

/** The other drain, or run of this one, that is at work on a node: two would evict the same pods; null: none. */
export function anotherAtWork(
  { marks }: Pick<DrainableNode, 'marks'>,
  { id, run }: DrainRunName & { readonly id: string },
  at: Instant,
): RefusedChange | null {
  const other = marks.find((mark) => mark.work?.run !== run && isAtWork(mark, at));
  if (!other) return null;
  const refusal = { kind: 'refused', message: `${drainName(other)} is at work there` } as const;
  return other.id === id ? { ...refusal, takenOver: true } : refusal;
}

function lossOf(mark: DrainMark | undefined): RefusedChange {
  if (!mark?.work) return { kind: 'refused', message: undoneThere };
  const message = `${drainName(mark)} has taken it over`;
  return { kind: 'refused', message, takenOver: true };
}
