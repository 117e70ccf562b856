// Policies as files have them: manifests in YAML or JSON, single ones and lists of them.

import type { Instant } from '@taintmgr/core/time';
import { type PolicyObject, readManifest } from '../kinds/manifest.ts';
import { mendable } from '../kinds/validation.ts';
import { decidingKinds } from './followed.ts';
import { FaultyFile, type Field, readAllPositioned } from './positioned.ts';

/** An object of a file, and its place there. */
export interface PlacedPolicy {
  /** The object, with its defaults. */
  readonly object: PolicyObject;
  /** Where it begins. */
  readonly field: Field;
}

const kinds: readonly PolicyObject['kind'][] = decidingKinds;

/**
 * Reads the manifests in a text. `now` is since when a pause of the file holds that does not say so
 * itself. Throws FaultyFile with all that is wrong.
 */
export function policiesIn(file: string, text: string, now: Instant): readonly PlacedPolicy[] {
  const documents = readAllPositioned(file, text);
  if (documents.length === 0)
    throw new FaultyFile([`${file}:1:1: the file is empty, want ${kinds.join(', ')}`]);
  return policiesOf(documents, now);
}

/**
 * Reads manifests that are parts of a file. `now` is the start of a pause that names none. Throws
 * FaultyFile with all faults.
 */
export function policiesOf(documents: readonly Field[], now: Instant): readonly PlacedPolicy[] {
  const faults: string[] = [];
  const objects = documents.flatMap(itemsOf).flatMap((field) => {
    const judged = readManifest(field.value, now);
    if (judged.kind === 'refused') {
      const wrong = mendable(judged.faults);
      faults.push(...wrong.map(({ path, text }) => field.faultAt(path, text).message));
      return [];
    }
    const { kind } = judged.value;
    if (kinds.includes(kind)) return [{ object: judged.value, field }];
    faults.push(
      field.faultAt(['kind'], `a ${kind} is no policy, want ${kinds.join(', ')}`).message,
    );
    return [];
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  return objects;
}

/** All of several files. Throws FaultyFile where two objects of one kind have one name. */
export function distinct(placed: readonly PlacedPolicy[]): readonly PolicyObject[] {
  const first = new Map<string, Field>();
  const faults = placed.flatMap(({ object: { kind, value }, field }) => {
    const key = `${kind} "${value.name}"`;
    const before = first.get(key);
    if (!before) first.set(key, field);
    const text = `metadata.name: ${key} is in ${before?.place} already`;
    return before ? [field.faultAt(['metadata', 'name'], text).message] : [];
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  return placed.map(({ object }) => object);
}

/** The objects that a List holds, or the object itself. */
function itemsOf(field: Field): readonly Field[] {
  const value: unknown = field.value;
  const kind = value instanceof Object && 'kind' in value ? value.kind : null;
  if (typeof kind !== 'string' || !kind.endsWith('List')) return [field];
  const items = field.entries().get('items');
  if (!items) throw new FaultyFile([field.faultAt([], 'items: Required value').message]);
  return items.items().flatMap(itemsOf);
}
