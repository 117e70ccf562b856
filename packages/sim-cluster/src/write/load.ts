// Loads objects of a real cluster as they are, and reports what could not be loaded.
import { randomUid } from '../kernel/prng.ts';
import { ApiError } from '../objects/errors.ts';
import { copy, isList, isObject, isShallow } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { subdomainErrors } from '../objects/names.ts';
import { formatTime, TimeError } from '../objects/time.ts';
import { isClientObject, wireForm } from '../objects/wire-form.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import { apiVersionOf, storedResource } from '../resources/resources.ts';
import { ServedResources } from '../resources/served.ts';
import { DecodeError, decode } from '../schema/decode.ts';
import type { Shape } from '../schema/types.ts';
import type { Backend } from './backend.ts';
import { canonical, toStored } from './canonical.ts';
import { createObject } from './create.ts';

/** Something that could not be loaded, named as well as it could be. */
export interface Unloaded {
  /** '' where the object has none. */
  readonly apiVersion: string;
  /** '' where the object has none. */
  readonly kind: string;
  /** '' for cluster-scoped kinds, and where the object has none. */
  readonly namespace: string;
  /** '' where the object has none. */
  readonly name: string;
  /** The cause, for people. */
  readonly reason: string;
}

/** The result of loading objects of a real cluster. */
export interface LoadReport {
  /** The number of objects that were loaded. */
  readonly loaded: number;
  /** The objects that were not loaded. */
  readonly unloaded: readonly Unloaded[];
  /** Namespaces that objects were in but that were not among them; they were created. */
  readonly createdNamespaces: readonly string[];
  /** Claims, `namespace/name`, that pods had and that were not among them, or not their volumes; they were created. */
  readonly createdClaims: readonly string[];
}

type Item = { readonly [key: string]: Json };

/**
 * Takes over objects of a real cluster, lists or single ones as `kubectl get -o json` prints them or
 * as @kubernetes/client-node reads them, just as they are: uid, times, status and ownership are kept, and only the resourceVersion is new.
 * No defaults, no admission. Unusable objects are reported; nothing is thrown. Namespaces,
 * PriorityClasses and the claims of pods that they name and that are not among them are made up.
 */
export function loadObjects(backend: Backend, values: readonly unknown[]): LoadReport {
  const unloaded: Unloaded[] = [];
  const createdNamespaces: string[] = [];
  let loaded = 0;
  // Namespaces come first, so that those that are given need not be made up.
  const items = values.flatMap((value) => unwrap(value, listsInLists)).map(shallowForm);
  const ordered = [
    ...items.filter((item) => rank(item) === 0),
    ...items.filter((item) => rank(item) === 1),
    ...items.filter((item) => rank(item) === 2),
  ];
  for (const item of ordered) {
    const outcome = loadItem(backend, item, createdNamespaces);
    if (outcome === null) loaded++;
    else unloaded.push(describe(item, outcome));
  }
  createMissingClasses(backend, items);
  const createdClaims = createMissingClaims(backend, items);
  return { loaded, unloaded, createdNamespaces, createdClaims };
}

/** Namespaces come first, then the definitions by which others are read. */
function rank(item: unknown): number {
  if (!isObject(item)) return 2;
  if (item.kind === 'Namespace') return 0;
  return item.kind === 'CustomResourceDefinition' ? 1 : 2;
}

/** Lists are items of lists no deeper than this. */
const listsInLists = 10;

/** The items of a list, each with the kind that the list implies; anything else is itself. */
function unwrap(value: unknown, listsLeft: number): readonly unknown[] {
  if (!isObject(value) || !isList(value.items) || listsLeft === 0) return [value];
  const listKind = typeof value.kind === 'string' ? value.kind : '';
  const kind = listKind.endsWith('List') ? listKind.slice(0, -'List'.length) : '';
  const implied = kind ? { kind, apiVersion: value.apiVersion ?? '' } : {};
  return value.items.flatMap((item) =>
    isObject(item) ? unwrap({ ...implied, ...item }, listsLeft - 1) : [item],
  );
}

/** Values that are nested deeper are refused. */
function shallowForm(item: unknown): unknown {
  return isClientObject(item) && isShallow(item) ? wireForm(item) : item;
}

function describe(item: unknown, reason: string): Unloaded {
  const object = isObject(item) ? item : {};
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  return {
    apiVersion: text(object.apiVersion),
    kind: text(object.kind),
    namespace: text(metadata.namespace),
    name: text(metadata.name),
    reason,
  };
}

const plain = new ServedResources();

/**
 * Returns the reason why an object cannot be loaded by a server without a front, whatever else there
 * is; null: it can.
 */
export function loadRefusal(value: unknown): string | null {
  const judged = judgeItem(plain, value);
  return typeof judged === 'string' ? judged : null;
}

/** An object as its kind, or why it cannot be loaded. */
function judgeItem(
  served: ServedResources,
  item: unknown,
): string | { readonly item: Item; readonly resource: Resource } {
  if (!isObject(item)) return 'not an object';
  if (!isShallow(item)) return 'exceeded max depth';
  const { kind, apiVersion } = item;
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return 'no kind or apiVersion';
  const resource = served.findKind(apiVersion, kind);
  if (!resource) return `${apiVersion} ${kind} is not served`;
  return misfitOf(resource, item) ?? { item, resource };
}

/** Loads one object; returns why not, or null. */
function loadItem(backend: Backend, value: unknown, createdNamespaces: string[]): string | null {
  const judged = judgeItem(backend.served, value);
  if (typeof judged === 'string') return judged;
  const { item, resource } = judged;
  const storage = storageOf(resource);
  const object = withIdentity(backend, toStored(resource, arranged(item, storage)));
  const { namespace = '', name } = object.metadata;
  const present = backend.store.get(storage.storeKey, namespace, name);
  if (present && storage.storeKey !== 'namespaces') return 'already there';
  if (present) backend.store.remove(storage.storeKey, present);
  if (namespace && !backend.store.get('namespaces', '', namespace)) {
    const refusal = namespaceRefusal(backend, namespace);
    if (refusal !== null) return refusal;
    createdNamespaces.push(namespace);
  }
  const loaded = storage.load?.(canonical(storage, object), backend.clock.now()) ?? object;
  backend.store.put(storage.storeKey, loaded, null);
  return null;
}

/** Makes the namespace that an object is in; returns why there can be none, or null. */
function namespaceRefusal(backend: Backend, name: string): string | null {
  try {
    createObject(backend, storedResource('namespaces'), { metadata: { name } }, '');
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** The fault that makes an object unusable, or null. */
function misfitOf(resource: Resource, item: Item): string | null {
  const metadata = isObject(item.metadata) ? item.metadata : {};
  if (typeof metadata.name !== 'string' || metadata.name === '') return 'no name';
  const namespaced = typeof metadata.namespace === 'string' && metadata.namespace !== '';
  if (resource.namespaced && !namespaced) return 'no namespace';
  if (!resource.namespaced && namespaced) return `${resource.kind} is not namespaced`;
  if (!resource.custom) {
    const { spec } = resource.schema.fields;
    if (spec && !isObject(item.spec)) return 'no spec';
    if (hasTemplate(spec) && !(isObject(item.spec) && isObject(item.spec.template))) {
      return 'no spec.template';
    }
  }
  // No server has stored such an object, and its readers do not expect it.
  const { data: _, ...typed } = item;
  const empty = nullItemIn(resource.custom ? { metadata } : typed);
  if (empty !== null) return `${empty} is null`;
  try {
    if (resource.custom) resource.custom.read(item, true);
    else decode(resource.schema, item);
    return null;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof TimeError) return error.message;
    throw error;
  }
}

function hasTemplate(spec: Shape | undefined): boolean {
  return (
    typeof spec === 'object' && spec.type === 'struct' && Object.hasOwn(spec.fields, 'template')
  );
}

/**
 * The values of any kind in the schemas of definitions: where null is allowed, they may contain
 * null.
 */
const anyValues: ReadonlySet<string> = new Set(['enum', 'default', 'example']);

/** The path of a list item that is null: `spec.taints[0]`; null if there is none. */
function nullItemIn(value: unknown, path = ''): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const isItem = isList(value);
  for (const [key, member] of Object.entries(value)) {
    if (!isItem && anyValues.has(key)) continue;
    const inner = isItem ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (isItem && member === null) return inner;
    const found = nullItemIn(member, inner);
    if (found !== null) return found;
  }
  return null;
}

/** A copy with its members in the order in which objects are written. */
function arranged(item: Item, storage: Resource): KubeObject {
  const { kind: _, apiVersion: __, metadata, ...rest } = copy(item) as KubeObject;
  // To a custom resource null may be something.
  const parts = storage.custom ? [metadata] : [metadata, rest.spec, rest.status];
  for (const part of parts) dropNulls(part);
  return { kind: storage.kind, apiVersion: apiVersionOf(storage), metadata, ...rest };
}

/** The fields that the server itself writes as null. */
const timePattern = /Time(stamp)?$/;

/** Snapshots written by hand have null where nothing is. */
function dropNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (member !== null) dropNulls(member);
    else if (!isList(value) && !timePattern.test(name)) Reflect.deleteProperty(value, name);
  }
}

/** Snapshots written by hand may lack what the server alone gives. */
function withIdentity({ clock, random }: Backend, object: KubeObject): KubeObject {
  const { uid, creationTimestamp } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      uid: uid ?? randomUid(random),
      creationTimestamp: creationTimestamp ?? formatTime(clock.now()),
    },
  };
}

// PriorityClasses that loaded objects name and that are not among them.

/**
 * Makes them up, as else no pod of them could come again: with the priority that a loaded pod of the class
 * has, or 0.
 */
function createMissingClasses(backend: Backend, items: readonly unknown[]): void {
  const resource = storedResource('priorityclasses');
  const value = new Map<string, number>();
  for (const spec of items.flatMap(podSpecIn)) {
    const { priorityClassName: name, priority } = spec;
    if (typeof name !== 'string' || name.startsWith('system-')) continue;
    // No server has a class of such a name.
    if (subdomainErrors(name).length > 0) continue;
    if (Number.isInteger(priority)) value.set(name, priority);
    else if (!value.has(name)) value.set(name, 0);
  }
  for (const [name, priority] of value) {
    if (backend.store.get(resource.storeKey, '', name)) continue;
    const { kind } = resource;
    const made = { apiVersion: apiVersionOf(resource), kind, metadata: { name }, value: priority };
    createObject(backend, resource, made, '');
  }
}

/** The spec of a pod, or of those that it makes. */
function podSpecIn(item: unknown): readonly KubeObject['spec'][] {
  if (!isObject(item) || !isObject(item.spec)) return [];
  const { spec } = item;
  if (item.kind === 'Pod') return [spec];
  const template = isObject(spec.template) ? spec.template : {};
  return isObject(template.spec) ? [template.spec] : [];
}

// Claims of pods, and volumes of claims, that are not among loaded objects.

/**
 * Makes up missing claims of pods that have a node, because otherwise no pod could take their
 * place. The reach of such a volume is unknown, so every node reaches it. Returns the keys of the
 * claims.
 */
function createMissingClaims(backend: Backend, items: readonly unknown[]): readonly string[] {
  const created = new Set<string>();
  for (const [namespace, name] of items.flatMap(claimsIn)) {
    const found = backend.store.get('persistentvolumeclaims', namespace, name);
    const volumeName: string = found
      ? (found.spec?.volumeName ?? '')
      : `made-up-${namespace}-${name}`;
    if (volumeName === '' || backend.store.get('persistentvolumes', '', volumeName)) continue;
    const claim = claimItem(namespace, name, volumeName);
    // A claim that cannot be loaded is left out: its name is invalid.
    if (!found && loadItem(backend, claim, []) !== null) continue;
    loadItem(backend, volumeItem(namespace, name, volumeName), []);
    created.add(`${namespace}/${name}`);
  }
  return [...created];
}

/** The claims of a pod that has a node. */
function claimsIn(item: unknown): readonly (readonly [namespace: string, name: string])[] {
  if (!isObject(item) || item.kind !== 'Pod' || !isObject(item.spec)) return [];
  const { volumes, nodeName } = item.spec;
  const namespace = isObject(item.metadata) ? item.metadata.namespace : null;
  if (!nodeName || !isList(volumes) || typeof namespace !== 'string') return [];
  return volumes.flatMap((volume) => {
    const claim = isObject(volume) ? volume.persistentVolumeClaim : null;
    const name = isObject(claim) ? claim.claimName : null;
    return typeof name === 'string' && name !== '' ? [[namespace, name] as const] : [];
  });
}

const accessModes: readonly string[] = ['ReadWriteOnce'];

function claimItem(namespace: string, name: string, volumeName: string): Item {
  return {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
    metadata: { namespace, name },
    spec: { accessModes, volumeName },
    status: { phase: 'Bound' },
  };
}

function volumeItem(namespace: string, name: string, volumeName: string): Item {
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name };
  return {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume' },
    metadata: { name: volumeName },
    spec: { accessModes, claimRef },
    status: { phase: 'Bound' },
  };
}
