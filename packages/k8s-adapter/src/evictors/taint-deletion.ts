import type { Instant } from '@taintmgr/core';
import { disruptionOf } from '../proto/disruption.ts';
import { asRecord, asText } from '../proto/json.ts';

/** A pod that a taint manager is deleting, as kube-controller-manager marks it and taintmgr does. */
export interface TaintDeletion {
  /** When it was marked, by the clock of whoever did. */
  readonly at: Instant | null;
  /**
   * Who wrote the mark, by `metadata.managedFields`: the name of his program, e.g.
   * `kube-controller-manager`; null: nobody can tell.
   */
  readonly manager: string | null;
}

/** The programs that are ours, as the API server names them after their User-Agent. */
const ownManagers = ['taintmgr-controller', 'kubectl-taintmgr'];

/**
 * Reads off a v1 Pod that it is being deleted for a taint: it has the condition DisruptionTarget with
 * the reason DeletionByTaintManager. Null for any other pod, and for one that is only marked.
 */
export function taintDeletionOf(pod: unknown): TaintDeletion | null {
  const object = asRecord(pod);
  const mark = disruptionOf(object);
  if (asText(asRecord(object.metadata).deletionTimestamp) === '') return null;
  if (mark?.reason !== 'DeletionByTaintManager') return null;
  return { at: mark.at, manager: mark.manager };
}

/** Whether the mark is known to be of another program than ours. */
export function isForeign({ manager }: TaintDeletion): boolean {
  return manager !== null && !ownManagers.includes(manager);
}
