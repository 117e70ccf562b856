// Short writes of the cluster's own parts, for a cluster whose objects no client reads over the
// wire.
import { alreadyExists, conflict } from '../objects/errors.ts';
import { equal, freeze, sharing } from '../objects/json.ts';
import type { KubeObject, ManagedFields, ObjectMeta } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Resource } from '../resources/resource.ts';
import { judgeCreate, judgeUpdate } from './admit.ts';
import type { Backend, WriteOptions } from './backend.ts';
import { checkPlace, createObject, newMetadata, notePod } from './create.ts';

/**
 * The short way for the cluster's own parts, which make most of its writes. Their writes are valid,
 * so they are neither read as their kind nor validated, and their fields get no owner beside those
 * of the creation. Clients over the wire would see the difference: times and members would not be
 * in the form of the API. A simulation reads fields by their names.
 *
 * Conditions of pods that others than their kubelet write take the long way: clients ask who has
 * written them.
 */
export class BriefWrites {
  readonly #backend: Backend;
  /** The first pod of each template. */
  readonly #firsts = new WeakMap<object, KubeObject>();

  readonly #owned = new WeakMap<
    readonly ManagedFields[],
    { readonly time: string; readonly entries: readonly ManagedFields[] }
  >();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Writes a status or a lease; null: the write has to take the long way. */
  update(
    resource: Resource,
    given: KubeObject,
    options: WriteOptions & { readonly subresource?: string },
  ): KubeObject | null {
    const { storeKey } = resource;
    const isStatus = options.subresource === 'status' && isShort(storeKey, options.manager);
    const isLease = options.subresource === undefined && storeKey === 'leases';
    const { name, namespace = '' } = given.metadata;
    const previous = this.#backend.store.get(storeKey, namespace, name);
    if (!previous || !(isStatus || isLease) || isEnding(previous)) return null;
    const { resourceVersion, uid } = given.metadata;
    if (!resourceVersion || uid !== previous.metadata.uid) return null;
    if (resourceVersion !== previous.metadata.resourceVersion) throw conflict(resource, name);
    return isStatus
      ? this.#status(resource, given, previous, options)
      : this.#put(storeKey, { ...previous, spec: given.spec }, previous);
  }

  #status(
    resource: Resource,
    given: KubeObject,
    previous: KubeObject,
    options: WriteOptions,
  ): KubeObject {
    const next = sharing({ ...previous, status: given.status }, previous);
    if (next === previous) return previous;
    judgeUpdate(this.#backend, resource, next, previous, { ...options, subresource: 'status' });
    return this.#put(resource.storeKey, next, previous);
  }

  /** Creates a pod as others of its template were created. */
  createPod(
    resource: Resource,
    given: KubeObject,
    namespace: string,
    options: WriteOptions,
  ): KubeObject {
    const backend = this.#backend;
    const first = this.#firsts.get(given.spec);
    if (!first || !isAlike(given, first)) {
      const trusted = { ...options, isTrusted: true };
      const created = createObject(backend, resource, given, namespace, trusted);
      this.#firsts.set(given.spec, created);
      return created;
    }
    const pod = this.#another(resource, given, namespace, first);
    const present = backend.store.get(resource.storeKey, namespace, pod.metadata.name);
    if (present) throw alreadyExists(resource, present);
    judgeCreate(backend, resource, pod, { namespace, options });
    notePod(backend, given.metadata, namespace);
    return backend.store.put(resource.storeKey, pod, null);
  }

  /** The same pod, which is not stored yet. */
  draftPod(
    resource: Resource,
    given: KubeObject,
    namespace: string,
    options: WriteOptions,
  ): KubeObject {
    const first = this.#firsts.get(given.spec);
    const pod =
      first && isAlike(given, first)
        ? this.#another(resource, given, namespace, first)
        : this.#firstDraft(resource, given, namespace, options);
    notePod(this.#backend, given.metadata, namespace);
    return pod;
  }

  #firstDraft(
    resource: Resource,
    given: KubeObject,
    namespace: string,
    options: WriteOptions,
  ): KubeObject {
    const dryRun = { ...options, isTrusted: true, dryRun: true };
    const created = freeze(createObject(this.#backend, resource, given, namespace, dryRun));
    this.#firsts.set(given.spec, created);
    return created;
  }

  #another(
    resource: Resource,
    given: KubeObject,
    namespace: string,
    first: KubeObject,
  ): KubeObject {
    const backend = this.#backend;
    checkPlace(backend, resource, given, namespace);
    const { labels, annotations, ownerReferences, managedFields } = first.metadata;
    const metadata: ObjectMeta = {
      ...newMetadata(backend, resource, given.metadata, namespace),
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(ownerReferences ? { ownerReferences } : {}),
      ...(managedFields ? { managedFields: this.#ownedNow(managedFields) } : {}),
    };
    return { ...first, metadata };
  }

  /** The same entries for all pods of a template that are created within a second. */
  #ownedNow(entries: readonly ManagedFields[]): readonly ManagedFields[] {
    const time = formatTime(this.#backend.clock.now());
    const known = this.#owned.get(entries);
    if (known?.time === time) return known.entries;
    const now = { time, entries: freeze(entries.map((entry) => ({ ...entry, time }))) };
    this.#owned.set(entries, now);
    return now.entries;
  }

  #put(storeKey: string, next: KubeObject, previous: KubeObject): KubeObject {
    return this.#backend.store.put(storeKey, next, previous);
  }
}

/**
 * True for the objects that a store freezes when the cluster's own parts write: those that are
 * written once. There are many pods, nodes and leases, and V8 takes a frozen object for one of
 * another shape than those that changed.
 */
export function freezesBriefly(resource: string, isNew: boolean): boolean {
  return isNew && !openResources.has(resource);
}

const openResources = new Set(['pods', 'nodes', 'leases']);

/**
 * True if a reader needs the author of a change: the time of a node's taints, and the component
 * that wants a pod to leave. For custom objects that is unknown.
 */
export function isOwnerRead(
  { storeKey, custom }: Resource,
  next: KubeObject,
  previous: KubeObject,
  { owners, subresource }: WriteOptions & { readonly subresource?: string },
): boolean {
  if (custom || owners) return true;
  if (storeKey === 'pods') return targetIn(next) !== targetIn(previous);
  return storeKey === 'nodes' && !subresource;
}

/** Conditions that did not change are the same values. */
function targetIn({ status }: KubeObject): unknown {
  const conditions: readonly { readonly type: string }[] = status?.conditions ?? [];
  return conditions.find(({ type }) => type === 'DisruptionTarget');
}

/** The object with the owners of its fields as they were. */
export function withOwnersOf(next: KubeObject, { metadata }: KubeObject): KubeObject {
  const { managedFields, ...rest } = next.metadata;
  if (managedFields === metadata.managedFields) return next;
  const owners = metadata.managedFields ? { managedFields: metadata.managedFields } : {};
  return { ...next, metadata: { ...rest, ...owners } };
}

/** True if this writer's status may be written the short way. */
function isShort(storeKey: string, manager: string | undefined): boolean {
  return storeKey !== 'pods' || manager === 'kubelet';
}

/** True if the write may be the last one that an object waits for. */
function isEnding({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.deletionGracePeriodSeconds;
}

/** True if two pods of one template differ only in their names. */
function isAlike({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return (
    a.name === '' &&
    a.generateName === b.generateName &&
    a.namespace === b.namespace &&
    equal(a.labels, b.labels) &&
    equal(a.annotations, b.annotations) &&
    equal(a.ownerReferences, b.ownerReferences)
  );
}
