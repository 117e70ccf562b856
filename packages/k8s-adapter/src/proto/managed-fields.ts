// Finds out who wrote which field of an object, by its managedFields.
import type { Instant } from '@taintmgr/core/time';
import { asList, asRecord, asText, type JsonRecord } from './json.ts';
import { timeFromJson } from './taint-starts.ts';

/**
 * Returns the field manager that last wrote a field of spec, such as `f:taints`, and when, by
 * managedFields.
 */
export function lastWriteOf(
  field: string,
  metadata: unknown,
): { readonly by: string; readonly at: Instant } | null {
  const writes = entriesOf(field, metadata).flatMap(({ manager, time }) => {
    const at = timeFromJson(time);
    return at === null ? [] : [{ by: asText(manager), at }];
  });
  return writes.sort((a, b) => b.at - a.at)[0] ?? null;
}

/**
 * All managers that have set a field of spec to its value; empty where managedFields do not say.
 */
export function managersOf(field: string, metadata: unknown): readonly string[] {
  return entriesOf(field, metadata).map(({ manager }) => asText(manager));
}

function entriesOf(field: string, metadata: unknown): readonly JsonRecord[] {
  return asList(asRecord(metadata).managedFields)
    .map(asRecord)
    .filter(({ fieldsV1 }) => Object.hasOwn(asRecord(asRecord(fieldsV1)['f:spec']), field));
}
