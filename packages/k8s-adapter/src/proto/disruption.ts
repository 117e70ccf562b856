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
  for (const condition of asList(asRecord(pod.status).conditions)) {
    const mark = asRecord(condition);
    if (!isMark(mark)) continue;
    const { reason, lastTransitionTime } = mark;
    const manager = markManager(asRecord(pod.metadata));
    return { reason: asText(reason), manager, at: parseTime(asText(lastTransitionTime)) };
  }
  return null;
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
const conditionName = new TextEncoder().encode('DisruptionTarget');

/** In protobuf the fields are the bytes of their JSON, which is read where it names the mark. */
function fieldsOf({ fieldsV1 }: JsonRecord): JsonRecord {
  const { raw } = asRecord(fieldsV1);
  if (!(raw instanceof Uint8Array)) return asRecord(fieldsV1);
  if (!includesBytes(raw, conditionName)) return {};
  if (raw.length !== last.raw.length || !startsWithBytes(raw, 0, last.raw)) {
    // A copy, which slice() of a Buffer is not: the room that it was read into is used again.
    last = { raw: new Uint8Array(raw), fields: asRecord(parseJson(decoder.decode(raw))) };
  }
  return last.fields;
}

/** In a mass eviction thousands of pods have the same one. */
let last: { readonly raw: Uint8Array; readonly fields: JsonRecord } = {
  raw: new Uint8Array(),
  fields: {},
};

/** Without a text made of them, which all but few would be made for nothing. */
function includesBytes(bytes: Uint8Array, word: Uint8Array): boolean {
  const first = word[0];
  for (let at = 0; at + word.length <= bytes.length; at++) {
    if (bytes[at] === first && startsWithBytes(bytes, at, word)) return true;
  }
  return false;
}

function startsWithBytes(bytes: Uint8Array, from: number, word: Uint8Array): boolean {
  for (let at = 0; at < word.length; at++) if (bytes[from + at] !== word[at]) return false;
  return true;
}
