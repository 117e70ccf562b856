// Server-side apply.

import {
  type Answer,
  apiVersionOf,
  applyConflict,
  badRequest,
  changedFields,
  conflict,
  createObject,
  decodeBody,
  elementOf,
  entry,
  equal,
  type FieldPath,
  fieldsOf,
  flag,
  formatTime,
  giveUp,
  hasField,
  hasFieldWithin,
  hasSubresource,
  invalidOptions,
  isAtomic,
  isList,
  isMerged,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type List,
  type ManagedFields,
  memberShape,
  notFound,
  objectReply,
  ownersIn,
  parsedPatch,
  pathsOf,
  presenterOf,
  type Resource,
  type ResourceCall,
  readDryRun,
  replaceObject,
  required,
  type Shape,
  setOwn,
  showField,
  sortedCopy,
  storageOf,
  targetOf,
  toView,
  updateOptions,
  valueAtField,
  withKeys,
  withManaged,
  without,
  withoutField,
  writerOf,
} from '@taintmgr/sim-cluster/server';
import { disputes } from './disputes.ts';

// The annotation that kubectl writes on objects that it applies on the client side, for a later
// switch to server-side apply.

/** The annotation. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
/** The default field manager of kubectl for server-side apply. */
const kubectl = 'kubectl';

/**
 * True if a field of the stored object is as kubectl last applied it on the client side. Such a
 * field causes no conflict when kubectl switches to server-side apply.
 */
function notedFields(
  live: KubeObject | null,
  manager: string,
  resource: Resource,
): (path: FieldPath) => boolean {
  const noted = manager === kubectl ? noteOf(live) : null;
  if (!live || noted?.apiVersion !== apiVersionOf(resource)) return () => false;
  const fields = fieldsOf(resource.schema, noted);
  return (path) =>
    hasField(fields, path) && equal(valueAtField(noted, path), valueAtField(live, path));
}

function noteOf(object: KubeObject | null): JsonObject | null {
  const text = object?.metadata.annotations?.[lastApplied];
  if (!text) return null;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The object with the configuration as kubectl's note, where it has one and kubectl applies. */
function withNote<T extends KubeObject>(object: T, configuration: JsonObject, manager: string): T {
  const { annotations } = object.metadata;
  if (manager !== kubectl || !annotations?.[lastApplied]) return object;
  const text = `${JSON.stringify(sortedCopy(withoutNote(configuration)))}\n`;
  const metadata = { ...object.metadata, annotations: { ...annotations, [lastApplied]: text } };
  return { ...object, metadata };
}

function withoutNote(configuration: JsonObject): Json {
  const { metadata } = configuration;
  if (!isObject(metadata) || !isObject(metadata.annotations)) return configuration;
  const { [lastApplied]: _noted, ...annotations } = metadata.annotations;
  return { ...configuration, metadata: { ...metadata, annotations } };
}

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
  // A manager that changes nothing keeps its time, or gets none.
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

/** An object without the part that a write through this path leaves unchanged. */
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

/**
 * The duplicates in lists with keys and in sets, in words: `.spec.rules: duplicate entries for key
 * [k="a"]`.
 */
function duplicateKeys(shape: Shape | undefined, value: Json, path = ''): readonly string[] {
  if (typeof shape !== 'object') return [];
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      duplicateKeys(memberShape(shape, name), member, `${path}.${name}`),
    );
  }
  if (!isList(value) || shape.type !== 'list') return [];
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    if (!isMerged(shape)) return duplicateKeys(shape.items, item, `${path}[${index}]`);
    const element = elementOf(shape, item);
    const key = showField([element]);
    const own = seen.has(element) ? [`${path}: duplicate entries for key ${key}`] : [];
    seen.add(element);
    return [...own, ...duplicateKeys(shape.items, item, `${path}${key}`)];
  });
}

/**
 * A list that is merged item by item by server-side apply, in the order of the real server: what
 * both have comes in the order of the configuration, what only one has keeps its neighbours.
 */
export function mergeItems(
  list: List,
  live: Json | undefined,
  wanted: readonly Json[],
  mergeItem: (have: Json | undefined, want: Json) => Json,
): readonly Json[] {
  const items = isList(live) ? live : [];
  const mine = items.map((item) => elementOf(list, item));
  // Items that share a key are ambiguous: all stay as they are, or all are replaced.
  const have = new Map<string, Json | undefined>();
  for (const [index, element] of mine.entries()) {
    have.set(element, have.has(element) ? undefined : items[index]);
  }
  const want = new Map(wanted.map((item) => [elementOf(list, item), item]));
  const theirs = [...want.keys()];
  const shared = theirs.filter((element) => have.has(element));
  const result: Json[] = [];
  const taken = new Set<string>();
  const take = (element: string): void => {
    taken.add(element);
    if (shared[0] === element) shared.shift();
    result.push(mergeItem(have.get(element), want.get(element) as Json));
  };
  let [at, next] = [0, 0];
  while (at < mine.length || next < theirs.length) {
    const [left, right] = [mine[at], theirs[next]];
    if (left !== undefined && left === right) {
      take(left);
      at++;
      next++;
    } else if (left !== undefined && !want.has(left)) {
      result.push(items[at] as Json);
      at++;
    } else if (left !== undefined && right !== undefined && isLater(left)) {
      at++;
    } else {
      // A second item of a taken key gives way to the next one.
      if (left !== undefined && taken.has(left)) at++;
      if (right === undefined) continue;
      take(right);
      next++;
    }
  }
  return result;

  /** An item that both have, whose turn in the order of the configuration comes later. */
  function isLater(element: string): boolean {
    return shared[0] !== undefined && shared[0] !== element;
  }
}

// Handles PATCH by server-side apply.

/** PATCH by server-side apply. */
export function applyRequest(call: ResourceCall): Answer {
  const dryRun = readDryRun(call, 'PatchOptions');
  presenterOf(call);
  return apply(parsedPatch(call), call, dryRun);
}

function apply(configuration: Json, call: ResourceCall, dryRun: boolean): Answer {
  const { backend, resource, info, path } = call;
  const manager = requiredManager(call);
  const given = checkConfiguration(configuration, call);
  // No field validation lets an unknown field through an apply.
  const query = new URLSearchParams({ fieldValidation: 'Strict' });
  const { warnings } = decodeBody(given, query, resource);
  const read: JsonObject = resource.custom?.read(given, false).value ?? given;
  const { subresource } = path;
  const storage = storageOf(resource);
  const stored = backend.store.get(storage.storeKey, path.namespace, path.name);
  const live = stored && resource.custom ? toView(resource, stored) : stored;
  const { object, owners } = applyConfiguration(live, read, {
    resource: resource.custom || resource.schema === storage.schema ? resource : storage,
    manager,
    subresource,
    force: flag(info.query.get('force')) ?? false,
    now: backend.clock.now(),
  });
  const { object: decoded } = decodeBody(object, new URLSearchParams(), resource);
  const named = withManaged(decoded, owners);
  if (!live) {
    if (path.subresource) throw notFound(resource, path.name);
    const { uid } = named.metadata;
    if (uid) {
      const text = `the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource, path.name, `uid mismatch: ${text}`);
    }
    const options = { dryRun, owners, writer: writerOf(call, warnings) };
    return objectReply(
      call,
      201,
      createObject(backend, resource, named, path.namespace, options),
      warnings,
    );
  }
  const options = { ...updateOptions(call, dryRun, warnings), owners };
  const written = replaceObject(backend, resource, targetOf(call), named, options);
  return objectReply(call, 200, written.object, warnings);
}

/** Checks that an applied configuration says what it must and nothing that it must not. */
function checkConfiguration(configuration: Json, { resource, path }: ResourceCall): JsonObject {
  if (!isObject(configuration)) throw badRequest('invalid object type: /, Kind=');
  const { kind, apiVersion } = configuration;
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    const [group = '', version = ''] = String(apiVersion ?? '').includes('/')
      ? String(apiVersion).split('/')
      : ['', String(apiVersion ?? '')];
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${String(kind ?? '')}`);
  }
  const metadata = isObject(configuration.metadata) ? configuration.metadata : {};
  if (metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (metadata.name !== undefined && metadata.name !== path.name) {
    throw badRequest(
      `the name of the object (${String(metadata.name)}) does not match the name on the URL (${path.name})`,
    );
  }
  return { ...configuration, metadata: { ...metadata, name: path.name } };
}

/** The manager that server-side apply cannot do without. */
function requiredManager({ info }: ResourceCall): string {
  const manager = info.query.get('fieldManager') ?? '';
  if (manager) return manager;
  throw invalidOptions('PatchOptions', [required('fieldManager', 'is required for apply patch')]);
}
