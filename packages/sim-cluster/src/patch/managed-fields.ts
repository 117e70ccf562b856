import { equal } from '../json.ts';
import type { Json, KubeObject } from '../objects.ts';
import type { Resource } from '../resource.ts';
import { apiVersionOf } from '../resources.ts';
import { formatTime } from '../time.ts';
import { type FieldSet, fieldsOf, formatFields, parseFields, valueAtField } from './field-set.ts';

/** One entry of `metadata.managedFields`. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time: string;
  readonly subresource: string;
  readonly fields: FieldSet;
}

export interface TrackOptions {
  /** Who writes; null for the cluster's own parts, whose fields nobody tracks. */
  readonly manager: string | null;
  /** The owners a server-side apply has worked out. */
  readonly owners?: readonly ManagedEntry[];
  readonly subresource: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly resource: Resource;
}

/** The owners of an object's fields; empty when nobody ever applied it. */
export function readManaged(object: KubeObject): readonly ManagedEntry[] {
  return (wireEntries(object) ?? [])
    .filter((entry) => entry.manager)
    .map((entry) => ({
      manager: entry.manager ?? '',
      operation: entry.operation ?? 'Update',
      apiVersion: entry.apiVersion ?? 'v1',
      time: entry.time ?? '',
      subresource: entry.subresource ?? '',
      fields: parseFields(entry.fieldsV1),
    }));
}

/** The object with these owners; entries that own nothing are left out. */
export function withManaged(object: KubeObject, entries: readonly ManagedEntry[]): KubeObject {
  const { managedFields: _old, ...metadata } = object.metadata;
  const written = entries
    .filter((entry) => entry.fields.size > 0)
    .map(({ fields, subresource, ...entry }) => ({
      ...entry,
      fieldsType: 'FieldsV1',
      fieldsV1: formatFields(fields),
      ...(subresource ? { subresource } : {}),
    }));
  return {
    ...object,
    metadata: written.length > 0 ? { ...metadata, managedFields: written } : metadata,
  };
}

/** An entry as the wire has it. */
interface WireEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Json;
}

function wireEntries(object: KubeObject): readonly WireEntry[] | undefined {
  return object.metadata.managedFields as readonly WireEntry[] | undefined;
}

/**
 * The ownership after an ordinary write. Only objects that were applied at least once are
 * tracked: for them a changed field passes to the writer and a removed one belongs to nobody.
 * A client that sends an empty list, or one empty entry, resets the ownership.
 */
export function trackUpdate(
  next: KubeObject,
  previous: KubeObject | null,
  options: TrackOptions,
): KubeObject {
  if (options.owners) return withManaged(next, options.owners);
  const given = wireEntries(next);
  if (given?.every((entry) => !entry.manager)) return withManaged(next, []);
  const owners = previous ? readManaged(previous) : [];
  if (!previous || owners.length === 0 || options.manager === null) {
    return previous ? withManagedOf(next, previous) : withManaged(next, []);
  }
  const { schema } = options.resource;
  const after = fieldsOf(schema, next as Json);
  const changed = new Set(
    [...after].filter(
      (path) => !equal(valueAtField(next as Json, path), valueAtField(previous as Json, path)),
    ),
  );
  const gone = [...fieldsOf(schema, previous as Json)].filter((path) => !after.has(path));
  if (changed.size === 0 && gone.length === 0) return withManagedOf(next, previous);
  const lost = new Set([...changed, ...gone]);
  return withManaged(next, handOver(owners, lost, changed, options));
}

function withManagedOf(next: KubeObject, previous: KubeObject): KubeObject {
  const kept = previous.metadata.managedFields;
  const { managedFields: _given, ...metadata } = next.metadata;
  return { ...next, metadata: kept ? { ...metadata, managedFields: kept } : metadata };
}

function handOver(
  owners: readonly ManagedEntry[],
  lost: FieldSet,
  gained: FieldSet,
  { manager, subresource, now, resource }: TrackOptions,
): readonly ManagedEntry[] {
  const isWriter = (entry: ManagedEntry): boolean =>
    entry.manager === manager && entry.operation === 'Update' && entry.subresource === subresource;
  const others = owners
    .filter((entry) => !isWriter(entry))
    .map((entry) => ({ ...entry, fields: without(entry.fields, lost) }));
  const own = owners.find(isWriter)?.fields ?? new Set();
  const writer: ManagedEntry = {
    manager: manager ?? '',
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    time: formatTime(now),
    subresource,
    fields: new Set([...without(own, lost), ...gained]),
  };
  return [...others, writer];
}

/** The fields of `set` that are not in `removed`. */
export function without(set: FieldSet, removed: FieldSet): FieldSet {
  return new Set([...set].filter((path) => !removed.has(path)));
}
