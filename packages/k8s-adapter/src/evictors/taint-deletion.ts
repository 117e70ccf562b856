import { type Instant, parseTime } from '@taintmgr/core';
import { asList, asRecord, asText, type JsonRecord, parseJson } from '../proto/json.ts';

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
const conditionKey = 'k:{"type":"DisruptionTarget"}';

/**
 * Reads off a v1 Pod that it is being deleted for a taint: it has the condition DisruptionTarget with
 * the reason DeletionByTaintManager. Null for any other pod, and for one that is only marked.
 */
export function taintDeletionOf(pod: unknown): TaintDeletion | null {
  const { metadata, status } = asRecord(pod);
  if (asText(asRecord(metadata).deletionTimestamp) === '') return null;
  const mark = asList(asRecord(status).conditions).map(asRecord).find(isMark);
  if (!mark) return null;
  return { at: parseTime(asText(mark.lastTransitionTime)), manager: markManager(metadata) };
}

/** Whether the mark is known to be of another program than ours. */
export function isForeign({ manager }: TaintDeletion): boolean {
  return manager !== null && !ownManagers.includes(manager);
}

function isMark({ type, status, reason }: JsonRecord): boolean {
  return type === 'DisruptionTarget' && status === 'True' && reason === 'DeletionByTaintManager';
}

/** The manager who owns the reason of the condition. */
function markManager(metadata: unknown): string | null {
  for (const entry of asList(asRecord(metadata).managedFields).map(asRecord)) {
    const owned = asRecord(asRecord(fieldsOf(entry)['f:status'])['f:conditions']);
    if ('f:reason' in asRecord(owned[conditionKey])) return asText(entry.manager) || null;
  }
  return null;
}

/** In protobuf the fields are the bytes of their JSON. */
function fieldsOf({ fieldsV1 }: JsonRecord): JsonRecord {
  const { raw } = asRecord(fieldsV1);
  return asRecord(raw instanceof Uint8Array ? parseJson(new TextDecoder().decode(raw)) : fieldsV1);
}
