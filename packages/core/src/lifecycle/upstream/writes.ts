// Upstream's changes of taints, each in two writes.
import type { Instant, Millis } from '../../kernel/time.ts';
import { type Node, nodeRef } from '../../model/node.ts';
import { hasTaint, type Taint, type TaintName } from '../../model/taint.ts';
import { call, sleep, type Task } from './tasks.ts';

const attemptsMax = 5;
/** Upstream draws 100 to 200 ms. */
const conflictPauseMs: Millis = 150;
const conflict = 409;

/**
 * Puts taints on and takes others off, in two writes, so that between them the node has both. The
 * second is left out when the first fails, or when the node as it was listed has none of them.
 */
export function* swapTaints(
  now: Instant,
  node: Node,
  add: readonly TaintName[],
  remove: readonly TaintName[],
): Task<boolean> {
  const taints = add.map((taint): Taint => ({ ...taint, value: '', timeAdded: now }));
  if (taints.length > 0 && !(yield* changeTaints(node, taints, []))) return false;
  return yield* removeTaints(node, remove);
}

/** Defect: judges by the node as it was listed, be that old. */
export function* removeTaints(node: Node, taints: readonly TaintName[]): Task<boolean> {
  if (!taints.some((taint) => hasTaint(node.taints, taint))) return true;
  return yield* changeTaints(node, [], taints);
}

/** Tries again after a conflict; whatever else goes wrong ends it. */
function* changeTaints(
  node: Node,
  add: readonly Taint[],
  remove: readonly TaintName[],
): Task<boolean> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const outcome = yield* call((id) => {
      const target = { id, node: nodeRef(node), fresh: attempt > 1, because: [] };
      return { kind: 'changeTaints', ...target, overwrite: true, add, remove };
    });
    if (outcome.kind === 'done') return true;
    if (outcome.kind !== 'failed' || outcome.status !== conflict) return false;
    yield* sleep(conflictPauseMs);
  }
  return false;
}
