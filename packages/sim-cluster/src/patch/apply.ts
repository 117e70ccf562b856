// Server-side apply.
import { applyConflict, badRequest, type Cause } from '../objects/errors.ts';
import { entry, equal, isList, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { FieldTree, Json, KubeObject, ManagedFields } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Resource } from '../resources/resource.ts';
import { apiVersionOf } from '../resources/resources.ts';
import type { Shape } from '../schema/types.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import {
  elementOf,
  type FieldPath,
  isAtomic,
  isMerged,
  memberShape,
  showField,
  valueAtField,
  withKeys,
  withoutField,
} from './field-set.ts';
import {
  fieldsOf,
  hasField,
  leadsToFields,
  pathsOf,
  treeAt,
  union,
  without,
} from './field-tree.ts';
import { ownersIn } from './managed-fields.ts';

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
  const wanted = fieldsOf(schema, configuration);
  const keyed = withKeys(schema, configuration);
  const owners = live ? ownersOf(live, options) : [];
  const isOwn = (entry: ManagedFields): boolean =>
    entry.manager === options.manager &&
    entry.operation === 'Apply' &&
    (entry.subresource ?? '') === options.subresource;
  const others = owners.filter((entry) => !isOwn(entry));
  const together = merge(schema, live ?? {}, keyed);
  const disputed = disputes(live, together, wanted, others);
  if (disputed.causes.length > 0 && !options.force) throw applyConflict(disputed.causes);
  const yielding = others.map((entry) => ({
    ...entry,
    fieldsV1: without(entry.fieldsV1 ?? {}, disputed.fields) ?? {},
  }));
  const owned = [wanted, ...yielding.map(({ fieldsV1 }) => fieldsV1)];
  const abandoned = pathsOf(owners.find(isOwn)?.fieldsV1 ?? {}).filter(
    (path) => !owned.some((tree) => leadsToFields(tree, path)),
  );
  const merged = withoutFields(together, abandoned);
  const own: ManagedFields = {
    manager: options.manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(options.resource),
    ...ownTime(owners.find(isOwn), merged, live, options),
    fieldsType: 'FieldsV1',
    fieldsV1: wanted,
    ...(options.subresource ? { subresource: options.subresource } : {}),
  };
  return { object: merged as KubeObject, owners: [...yielding, own] };
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

/** An apply that changes no value renews no time: who owns fields by it from now on has none. */
function ownTime(
  before: ManagedFields | undefined,
  merged: Json,
  live: KubeObject | null,
  options: ApplyOptions,
): Pick<ManagedFields, 'time'> {
  if (!equal(merged, live)) return { time: formatTime(options.now) };
  return before?.time === undefined ? {} : { time: before.time };
}

function ownersOf(live: KubeObject, options: ApplyOptions): readonly ManagedFields[] {
  const owners = ownersIn(live);
  if (owners.length > 0) return owners;
  const { creationTimestamp = '' } = live.metadata;
  return [
    {
      manager: beforeFirstApply,
      operation: 'Update',
      apiVersion: apiVersionOf(options.resource),
      time: creationTimestamp,
      fieldsType: 'FieldsV1',
      fieldsV1: fieldsOf(options.resource.schema, live),
    },
  ];
}

/** A field is disputed where the apply makes another value of it: `together` is what comes of it. */
function disputes(
  live: KubeObject | null,
  together: Json,
  wanted: FieldTree,
  others: readonly ManagedFields[],
): { readonly causes: readonly Cause[]; readonly fields: FieldTree } {
  const causes: Cause[] = [];
  let fields: FieldTree = {};
  for (const entry of others) {
    for (const path of pathsOf(wanted)) {
      if (!hasField(entry.fieldsV1 ?? {}, path)) continue;
      if (equal(valueAtField(live ?? {}, path), valueAtField(together, path))) continue;
      fields = union(fields, treeAt(path));
      const using = entry.operation === 'Update' ? ` using ${entry.apiVersion}` : '';
      causes.push({
        reason: 'FieldManagerConflict',
        message: `conflict with ${JSON.stringify(entry.manager)}${using}`,
        field: showField(path),
      });
    }
  }
  return { causes, fields };
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
  const result: Json[] = isList(live) ? [...live] : [];
  for (const item of wanted) {
    const element = elementOf(list, item);
    const at = result.findIndex((have) => elementOf(list, have) === element);
    if (at < 0) result.push(item);
    else result[at] = merge(list.items, result[at], item);
  }
  return result;
}
