// The mark by which a drain shows on a node that it is at work there, and that it has ended.
import type { Taint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { changeNode, patchNodeRequest, type WritableNode } from '../../cluster/change-node.ts';
import { type DrainMark, isAtWork, markOf, readMarks } from '../../cluster/drain-marks.ts';

/** Another drain is at work on a node, or has taken it over. */
export class AnotherDrainError extends Error {}

/** One run of a drain. */
export interface DrainRunName {
  readonly taint: Taint;
  /** Distinguishes this run from an earlier one that it goes on with. */
  readonly run: string;
}

/** Shows that the drain is still at work on a node. Throws AnotherDrainError. */
export async function renewMark(
  client: ApiClient,
  nodeName: string,
  { run, taint }: DrainRunName,
): Promise<void> {
  await changeNode(client, nodeName, (node, at) => {
    const marks = readMarks(node.metadata.annotations);
    const mark = markOf(marks, taint);
    if (mark?.work?.run !== run) throw new AnotherDrainError(lossOf(mark));
    // Another text each time, whatever the server's clock does.
    const heartbeat = Math.max(at, mark.work.heartbeat + 1000);
    const renewed = { ...mark, work: { ...mark.work, heartbeat } };
    const changed = marks.map((one) => (one === mark ? renewed : one));
    return { request: patchNodeRequest(node, { marks: changed }), result: undefined };
  });
}

/**
 * Shows that the drain has ended on a node. Where it has left no pods that were to go, whoever else
 * evicts may do so at once; otherwise after the time that people have to undo it.
 */
export async function endMark(
  client: ApiClient,
  nodeName: string,
  { run, taint }: DrainRunName,
  isDrained: boolean,
): Promise<void> {
  await changeNode(client, nodeName, (node) => {
    const marks = readMarks(node.metadata.annotations);
    const mark = markOf(marks, taint);
    if (mark?.work?.run !== run) return { request: null, result: undefined };
    const ended = { ...mark, work: isDrained ? null : { ...mark.work, hasEnded: true } };
    const changed = marks
      .map((one) => (one === mark ? ended : one))
      .filter((one) => one.tainted || one.cordoned || one.work);
    return { request: patchNodeRequest(node, { marks: changed }), result: undefined };
  });
}

/** Two drains at a time would evict the same pods. Throws AnotherDrainError. */
export function refuseAnother(
  { metadata }: WritableNode,
  { run }: DrainRunName,
  at: Instant,
): void {
  const other = readMarks(metadata.annotations).find(
    (mark) => mark.work?.run !== run && isAtWork(mark, at),
  );
  if (other) throw new AnotherDrainError(`${drainName(other)} is at work there`);
}

function lossOf(mark: DrainMark | undefined): string {
  return mark?.work
    ? `${drainName(mark)} has taken it over`
    : 'somebody has undone the drain there';
}

/** `drain drain-20261122-041830-a4d8 of alice` */
export function drainName({ id, by }: Pick<DrainMark, 'id' | 'by'>): string {
  return `drain ${id}${by === '' ? '' : ` of ${by}`}`;
}
