// Server-side apply.

import type {
  Json,
  KubeObject,
  ManagedFields,
  Resource,
  Shape,
} from '@taintmgr/sim-cluster/server';
import {
  apiVersionOf,
  applyConflict,
  badRequest,
  changedFields,
  entry,
  equal,
  type FieldPath,
  fieldsOf,
  formatTime,
  giveUp,
  hasFieldWithin,
  hasSubresource,
  isAtomic,
  isList,
  isMerged,
  isObject,
  type JsonObject,
  memberShape,
  ownersIn,
  pathsOf,
  setOwn,
  valueAtField,
  withKeys,
  without,
  withoutField,
} from '@taintmgr/sim-cluster/server';
import { disputes } from './disputes.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { notedFields, withNote } from './last-applied.ts';
import { mergeItems } from './merge-list.ts';

export interface ApplyOptions {
  readonly resource: Resource;
  readonly manager: string;
  readonly subresource: string;
  /** Take fields that others own with other values instead of refusing. */
  readonly force: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Applied {
  readonly object: KubeObject;
  readonly owners: readonly ManagedFields[];
}

/** The owner of everything an object had before its first apply. */
const beforeFirstApply = 'before-first-apply';

/**
 * Server-side apply of a configuration to the stored object, or to none: fields merge, fields
 * that the manager applied before and left out now are removed unless others own them too, and
 * a field that another manager owns with another value is a 409 unless forced.
 */
export function applyConfiguration(
  live: KubeObject | null,
  configuration: JsonObject,
  options: ApplyOptions,
): Applied {
  const { schema } = options.resource;
  refuseDuplicates(configuration, options);
  const wanted = fieldsOf(schema, withoutReset(configuration, options));
  const keyed = withKeys(schema, configuration);
  const owners = live ? ownersOf(live, options) : [];
  const isOwn = (entry: ManagedFields): boolean =>
    entry.manager === options.manager &&
    entry.operation === 'Apply' &&
    (entry.subresource ?? '') === options.subresource;
  const others = owners.filter((entry) => !isOwn(entry));
  const together = merge(schema, live ?? {}, keyed);
  const isNoted = notedFields(live, options.manager, options.resource);
  const disputed = disputes(live, together, wanted, { others, isNoted });
  if (disputed.causes.length > 0 && !options.force) throw applyConflict(disputed.causes);
  const yielding = others.map((entry) => ({
    ...entry,
    fieldsV1: without(entry.fieldsV1 ?? {}, disputed.fields) ?? {},
  }));
  const owned = [wanted, ...yielding.map(({ fieldsV1 }) => fieldsV1)];
  // An empty map may have been filled by others since.
  const abandoned = pathsOf(owners.find(isOwn)?.fieldsV1 ?? {}).filter(
    (path) => !owned.some((tree) => hasFieldWithin(tree, path)),
  );
  const merged = withoutFields(together, abandoned);
  // Whoever changes nothing of the object keeps his time, or gets none.
  const time = equal(merged, live) ? owners.find(isOwn)?.time : formatTime(options.now);
  const own: ManagedFields = {
    manager: options.manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(options.resource),
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: wanted,
    ...(options.subresource ? { subresource: options.subresource } : {}),
  };
  const object = withNote(merged as KubeObject, configuration, options.manager);
  const { gone } = changedFields(schema, live, object);
  return { object, owners: [...(gone ? giveUp(yielding, gone) : yielding), own] };
}

/** 400: only one of the items of one key would be left. The real server answers 500. */
function refuseDuplicates(configuration: JsonObject, { resource }: ApplyOptions): void {
  const duplicates = duplicateKeys(resource.schema, configuration);
  if (duplicates.length === 0) return;
  const { namespace = '', name = '' } = configuration.metadata as KubeObject['metadata'];
  const { group, version, kind } = resource;
  const object = `${namespace}/${name}; ${group}/${version}, Kind=${kind}`;
  const texts =
    duplicates.length === 1 ? duplicates : ['errors:', ...duplicates.map((text) => `  ${text}`)];
  throw badRequest(`failed to create typed patch object (${object}): ${texts.join('\n')}`);
}

/** A field that has others in it goes only when it is left with none. */
function withoutFields(object: Json, paths: readonly FieldPath[]): Json {
  const around = paths.filter((path) => path.at(-1) === '.' && path.at(-2)?.startsWith('f:'));
  let left = object;
  for (const path of paths) if (!around.includes(path)) left = withoutField(left, path);
  for (const path of around.toSorted((a, b) => b.length - a.length)) {
    const value = valueAtField(left, path.slice(0, -1));
    const isEmpty = isList(value) ? value.length === 0 : Object.keys(value ?? {}).length === 0;
    if (isEmpty) left = withoutField(left, path);
  }
  return left;
}

/** An object without the part that a write through this path leaves as it is. */
function withoutReset<T extends JsonObject | KubeObject>(
  object: T,
  { resource, subresource }: Pick<ApplyOptions, 'resource' | 'subresource'>,
): T {
  const isReset = subresource === 'status' || hasSubresource(resource, 'status');
  if (!isReset) return object;
  const { status, spec, ...rest } = object;
  const [name, kept] = subresource === 'status' ? ['status', status] : ['spec', spec];
  return (kept === undefined ? rest : { ...rest, [name]: kept }) as T;
}

function ownersOf(live: KubeObject, options: ApplyOptions): readonly ManagedFields[] {
  const owners = ownersIn(live);
  if (owners.length > 0) return owners;
  const { creationTimestamp = '' } = live.metadata;
  const { schema } = options.resource;
  return [
    {
      manager: beforeFirstApply,
      operation: 'Update',
      apiVersion: apiVersionOf(options.resource),
      time: creationTimestamp,
      fieldsType: 'FieldsV1',
      fieldsV1: changedFields(schema, null, withoutReset(live, options)).taken ?? {},
      ...(options.subresource ? { subresource: options.subresource } : {}),
    },
  ];
}

function merge(shape: Shape | undefined, live: Json | undefined, wanted: Json): Json {
  if (isObject(wanted) && !isAtomic(shape)) {
    const result: JsonObject = isObject(live) ? { ...live } : {};
    for (const [name, value] of Object.entries(wanted)) {
      setOwn(result, name, merge(memberShape(shape, name), entry(result, name), value));
    }
    return result;
  }
  const list = typeof shape === 'object' && shape.type === 'list' ? shape : null;
  if (!list || !isList(wanted) || !isMerged(list)) return wanted;
  return mergeItems(list, live, wanted, (have, want) =>
    have === undefined ? want : merge(list.items, have, want),
  );
}
