// Keeps `metadata.managedFields`: the owners of fields after any write.
import { isObject } from '../objects/json.ts';
import type { FieldTree, KubeObject, ManagedFields } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Resource } from '../resources/resource.ts';
import { changedFields, isFieldTree } from './field-tree.ts';
import { union, without } from './tree-sets.ts';

export interface TrackOptions {
  readonly manager: string;
  /** The owners a server-side apply has worked out. */
  readonly owners?: readonly ManagedFields[];
  readonly subresource: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The resource that stores the object. */
  readonly resource: Resource;
  /** The API version that the writer wrote in. */
  readonly apiVersion: string;
  /** The part of a new object that its creator owns, where the server has added more. */
  readonly claimed?: KubeObject;
}

/** Beyond so many managers that update, the fields of the oldest go to one of this name. */
const updateManagersMax = 10;
const ancientChanges = 'ancient-changes';

/** The object with these owners; entries that own nothing are left out. */
export function withManaged(object: KubeObject, entries: readonly ManagedFields[]): KubeObject {
  const owning = entries.filter(({ fieldsV1 = {} }) => Object.keys(fieldsV1).length > 0);
  return withEntries(object, owning.sort(byOperationAndAge));
}

/**
 * The ownership after an ordinary write: a field with a new value passes to the writer, one that is
 * removed has no owner, and the writer's time is renewed only if it took a field. An object without
 * owners stays without until it is applied, as on the real server. A client that sends one empty
 * entry resets the ownership.
 */
export function trackUpdate(
  next: KubeObject,
  previous: KubeObject | null,
  options: TrackOptions,
): KubeObject {
  if (options.owners) return withManaged(next, options.owners);
  const entries = entriesBefore(next, previous, options.subresource);
  if (previous && entries.length === 0) return withEntries(next, entries);
  const { resource, claimed = next } = options;
  const { taken, gone } = changedFields(resource.schema, previous, claimed);
  const kept = gone ? giveUp(entries, gone) : entries;
  return withEntries(next, taken ? handOver(kept, taken, options) : kept);
}

/** The owners of an object's fields; empty when ownership is not tracked. */
export function ownersIn(object: KubeObject): readonly ManagedFields[] {
  return (object.metadata.managedFields ?? []).filter(isEntry);
}

function isEntry(entry: ManagedFields): boolean {
  return isObject(entry) && typeof entry.manager === 'string' && isObject(entry.fieldsV1);
}

/** A client may edit the owners, but not through a subresource, and not by leaving them out. */
function entriesBefore(
  next: KubeObject,
  previous: KubeObject | null,
  subresource: string,
): readonly ManagedFields[] {
  const before = previous ? ownersIn(previous) : [];
  if (subresource) return before;
  const given = next.metadata.managedFields ?? [];
  const [first] = given;
  if (given.length === 1 && isObject(first) && Object.keys(first).length === 0) return [];
  const stored = previous?.metadata.managedFields ?? [];
  if (given.every((entry, at) => entry === stored[at])) return before;
  const read = ownersIn(next).filter(({ fieldsV1 }) => isFieldTree(fieldsV1));
  return read.length > 0 ? read : before;
}

function withEntries(object: KubeObject, entries: readonly ManagedFields[]): KubeObject {
  if (object.metadata.managedFields === undefined && entries.length === 0) return object;
  const { managedFields: _old, ...metadata } = object.metadata;
  if (entries.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}

/** The entries without fields that they have no longer; those that are left with none go. */
export function giveUp(
  entries: readonly ManagedFields[],
  given: FieldTree,
): readonly ManagedFields[] {
  return entries.flatMap((entry) => {
    const had = entry.fieldsV1 ?? {};
    const fields = without(had, given);
    if (fields === had) return [entry];
    return fields ? [{ ...entry, fieldsV1: fields }] : [];
  });
}

function handOver(
  entries: readonly ManagedFields[],
  taken: FieldTree,
  { manager, subresource, now, apiVersion }: TrackOptions,
): readonly ManagedFields[] {
  const isWriter = (entry: ManagedFields): boolean =>
    entry.operation === 'Update' &&
    entry.manager === manager &&
    entry.apiVersion === apiVersion &&
    (entry.subresource ?? '') === subresource;
  const own = entries.find(isWriter)?.fieldsV1;
  const writer: ManagedFields = {
    manager,
    operation: 'Update',
    apiVersion,
    time: formatTime(now),
    fieldsType: 'FieldsV1',
    fieldsV1: own ? union(own, taken) : taken,
    ...(subresource ? { subresource } : {}),
  };
  const others = giveUp(
    entries.filter((entry) => !isWriter(entry)),
    taken,
  );
  return capped([...others, writer].sort(byOperationAndAge));
}

const orderKeys = ['operation', 'time', 'manager', 'apiVersion', 'subresource'] as const;

/** The order of the real server. */
function byOperationAndAge(a: ManagedFields, b: ManagedFields): number {
  for (const key of orderKeys) {
    const mine = a[key] ?? '';
    const other = b[key] ?? '';
    if (mine !== other) return mine < other ? -1 : 1;
  }
  return 0;
}

/** Puts the oldest updates of one API version together; together they are as new as the newest. */
function capped(entries: readonly ManagedFields[]): readonly ManagedFields[] {
  if (entries.length <= updateManagersMax) return entries;
  const updates = entries.filter(({ operation }) => operation === 'Update');
  if (updates.length <= updateManagersMax) return entries;
  const [oldest = {}] = updates;
  const second = updates.slice(1).find(({ apiVersion }) => apiVersion === oldest.apiVersion);
  if (!second) return entries;
  const { subresource: _whole, ...newer } = second;
  const ancient: ManagedFields = {
    ...newer,
    manager: ancientChanges,
    fieldsV1: union(oldest.fieldsV1 ?? {}, second.fieldsV1 ?? {}),
  };
  const others = entries.filter((entry) => entry !== oldest && entry !== second);
  return capped([...others, ancient].sort(byOperationAndAge));
}
