import type { Disruption } from '@taintmgr/core';
import { type Instant, parseTime } from '@taintmgr/core/time';
import { asList, asRecord, asText, type JsonRecord, parseJson } from './json.ts';

/** Who removes a pod, by its condition DisruptionTarget, and since when. */
export interface DisruptionMark extends Disruption {
  readonly at: Instant | null;
}

const conditionKey = 'k:{"type":"DisruptionTarget"}';

/** Reads off a v1 Pod that somebody is removing it, and who; null: it has no such mark. */
export function disruptionOf(pod: JsonRecord): DisruptionMark | null {
  const mark = asList(asRecord(pod.status).conditions).map(asRecord).find(isMark);
  if (!mark) return null;
  const { reason, lastTransitionTime } = mark;
  const manager = markManager(asRecord(pod.metadata));
  return { reason: asText(reason), manager, at: parseTime(asText(lastTransitionTime)) };
}

function isMark({ type, status, reason }: JsonRecord): boolean {
  return type === 'DisruptionTarget' && status === 'True' && asText(reason) !== '';
}

/** The manager who owns the reason of the condition. */
function markManager({ managedFields }: JsonRecord): string | null {
  for (const entry of asList(managedFields).map(asRecord)) {
    const owned = asRecord(asRecord(fieldsOf(entry)['f:status'])['f:conditions']);
    if ('f:reason' in asRecord(owned[conditionKey])) return asText(entry.manager) || null;
  }
  return null;
}

const decoder = new TextDecoder();

/** In protobuf the fields are the bytes of their JSON, which is read where it names the mark. */
function fieldsOf({ fieldsV1 }: JsonRecord): JsonRecord {
  const { raw } = asRecord(fieldsV1);
  if (!(raw instanceof Uint8Array)) return asRecord(fieldsV1);
  const text = decoder.decode(raw);
  return text.includes('DisruptionTarget') ? asRecord(parseJson(text)) : {};
}
