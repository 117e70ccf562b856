import type { Disruption } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { asList, asRecord, asText, type JsonRecord, parseJson } from './json.ts';
import { timeFromJson } from './taint-starts.ts';

/** The one who removes a pod, by its condition DisruptionTarget, and since when. */
export interface DisruptionMark extends Disruption {
  readonly at: Instant | null;
}

const conditionKey = 'k:{"type":"DisruptionTarget"}';

/** Reads the program that is removing a v1 Pod off the pod; null: it has no such mark. */
export function disruptionOf(pod: JsonRecord): DisruptionMark | null {
  for (const condition of asList(asRecord(pod.status).conditions)) {
    const mark = asRecord(condition);
    if (!isMark(mark)) continue;
    const { reason, lastTransitionTime } = mark;
    const manager = markManager(asRecord(pod.metadata));
    return { reason: asText(reason), manager, at: timeFromJson(lastTransitionTime) };
  }
  return null;
}

function isMark({ type, status, reason }: JsonRecord): boolean {
  return type === 'DisruptionTarget' && status === 'True' && asText(reason) !== '';
}

/**
 * The manager who owns the message of the condition, or its reason where it has none: who marks over
 * the mark of another taint manager changes nothing but the message. Who writes a status is said to
 * (since Kubernetes 1.22); what others own is much more, and is not read where that is not needed.
 */
function markManager({ managedFields }: JsonRecord): string | null {
  const entries = asList(managedFields).map(asRecord);
  const ofStatus = entries.filter(({ subresource }) => subresource === 'status');
  const owner = ownerIn(ofStatus) ?? ownerIn(entries);
  return asText(owner?.manager) || null;
}

function ownerIn(entries: readonly JsonRecord[]): JsonRecord | undefined {
  const owns = (field: string) => (entry: JsonRecord) => field in ownedMark(entry);
  return entries.find(owns('f:message')) ?? entries.find(owns('f:reason'));
}

function ownedMark(entry: JsonRecord): JsonRecord {
  const owned = asRecord(asRecord(fieldsOf(entry)['f:status'])['f:conditions']);
  return asRecord(owned[conditionKey]);
}

const decoder = new TextDecoder();

/** In protobuf the fields are the bytes of their JSON, which is read where it names the mark. */
function fieldsOf({ fieldsV1 }: JsonRecord): JsonRecord {
  const { raw } = asRecord(fieldsV1);
  if (!(raw instanceof Uint8Array)) return asRecord(fieldsV1);
  const text = decoder.decode(raw);
  if (!text.includes('DisruptionTarget')) return {};
  if (text !== last.text) last = { text, fields: asRecord(parseJson(text)) };
  return last.fields;
}

/** In a mass eviction thousands of pods have the same one. */
let last: { readonly text: string; readonly fields: JsonRecord } = { text: '', fields: {} };
