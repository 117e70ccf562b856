import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { isTerminating, keyOf } from './pods.ts';

/** Finalizers by which a delete request says what becomes of the dependents. */
const foreground = 'foregroundDeletion';
const orphan = 'orphan';
/** The delay between the last dependent forgetting its owner and the owner's removal. */
const orphanedMs = 20;

/**
 * The state of an owner that an object names. An owner is waiting while it stays until its
 * dependents are gone. It is unknown when its kind is not served, when it has a namespace and the
 * object has none, and when it was missing from a snapshot.
 */
type Owner =
  | { readonly state: 'there' | 'waiting'; readonly resource: string; readonly object: KubeObject }
  | { readonly state: 'gone' | 'unknown' };

/**
 * Deletes objects of every kind that have lost all their owners, and carries out foreground and
 * orphaning deletion. An object with an unknown owner is left alone. Work is keyed by object, an
 * owner or a dependent: `RESOURCE KEY`.
 */
export class GarbageCollector extends Controller {
  protected override begin(): void {
    for (const { storeKey } of this.api.stored()) {
      for (const object of this.api.list(storeKey)) {
        if (isHeld(object) || this.#lacksOwner(object)) this.#add(storeKey, object);
      }
    }
  }

  protected override notice({ type, resource, object, previous }: Change): void {
    if (type === 'DELETED') {
      this.#addDependents(object);
      this.#addWaitingOwners(object);
      return;
    }
    if (isHeld(object)) this.#add(resource, object);
    if (isWaiting(object) && !(previous && isWaiting(previous))) this.#addDependents(object);
    if (object.metadata.ownerReferences === previous?.metadata.ownerReferences) return;
    if (previous) this.#addWaitingOwners(previous);
    if (this.#lacksOwner(object)) this.#add(resource, object);
  }

  /** Events are left out, as in the real one. */
  #add(resource: string, object: KubeObject): void {
    if (resource !== 'events') this.queue.add(`${resource} ${keyOf(object)}`);
  }

  #addDependents({ metadata }: KubeObject): void {
    for (const { resource, object } of this.lookup.dependentsOf(metadata.uid ?? '')) {
      this.#add(resource, object);
    }
  }

  #addWaitingOwners(object: KubeObject): void {
    for (const owner of this.#ownersOf(object)) {
      if (owner.state === 'waiting') this.#add(owner.resource, owner.object);
    }
  }

  #lacksOwner(object: KubeObject): boolean {
    return this.#ownersOf(object).some(({ state }) => state === 'gone' || state === 'waiting');
  }

  #ownersOf({ metadata }: KubeObject): readonly Owner[] {
    const { namespace = '', ownerReferences } = metadata;
    return ownerReferences?.map((reference) => this.#ownerOf(reference, namespace)) ?? [];
  }

  /** Owners are looked for in the namespace of the object that names them. */
  #ownerOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Owner {
    const known = this.api.findKind(apiVersion, kind);
    const isOutOfReach = known?.namespaced && namespace === '';
    if (!known || isOutOfReach || this.lookup.isOwnerElsewhere(uid)) return { state: 'unknown' };
    const resource = known.storeKey;
    const object = this.api.get(resource, known.namespaced ? namespace : '', name);
    if (object?.metadata.uid !== uid) return { state: 'gone' };
    return { state: isWaiting(object) ? 'waiting' : 'there', resource, object };
  }

  protected override sync(work: string): void {
    const [resource = '', key = ''] = work.split(' ');
    // A definition that is gone has taken its objects along.
    const isServed = this.api.stored().some(({ storeKey }) => storeKey === resource);
    const object = isServed ? this.api.find(resource, key) : null;
    if (!object) return;
    if (isHeld(object)) this.#letGo(resource, object);
    else if (!isTerminating(object)) this.#judge(resource, object);
  }

  /** Does for an object that is being deleted what its finalizers wait for. */
  #letGo(resource: string, object: KubeObject): void {
    const { uid = '', finalizers = [] } = object.metadata;
    const dependents = this.lookup.dependentsOf(uid);
    if (finalizers.includes(orphan) && dependents.length > 0) {
      for (const dependent of dependents) {
        const owners = dependent.object.metadata.ownerReferences ?? [];
        const others = owners.filter((owner) => owner.uid !== uid);
        this.#setOwners(dependent.resource, dependent.object, others);
      }
      this.queue.addAfter(`${resource} ${keyOf(object)}`, orphanedMs);
    } else if (finalizers.includes(orphan)) {
      this.#removeFinalizer(resource, object, orphan);
    } else if (!dependents.some((dependent) => blocks(dependent.object, uid))) {
      this.#removeFinalizer(resource, object, foreground);
    }
  }

  /** Deletes an object that no owner keeps; one that is kept forgets its other owners. */
  #judge(resource: string, object: KubeObject): void {
    const { namespace = '', name, uid = '', ownerReferences = [] } = object.metadata;
    const states = this.#ownersOf(object).map(({ state }) => state);
    if (states.length === 0 || states.includes('unknown')) return;
    if (states.includes('there')) {
      if (states.every((state) => state === 'there')) return;
      const kept = ownerReferences.filter((_, at) => states[at] === 'there');
      this.#setOwners(resource, object, kept);
      return;
    }
    const dependents = states.includes('waiting') ? this.lookup.dependentsOf(uid) : [];
    // Objects that own each other would wait for each other.
    const isCircle = dependents.some((dependent) => isWaiting(dependent.object));
    if (isCircle) this.#unblockOwners(resource, object);
    const inForeground = dependents.length > 0 ? { propagationPolicy: 'Foreground' as const } : {};
    this.api.delete(resource, namespace, name, { uid, ...inForeground });
  }

  #unblockOwners(resource: string, object: KubeObject): void {
    const owners = object.metadata.ownerReferences ?? [];
    const unblocked = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    this.#setOwners(resource, object, unblocked);
  }

  #setOwners(
    resource: string,
    object: KubeObject,
    ownerReferences: readonly OwnerReference[],
  ): void {
    this.api.update(resource, { ...object, metadata: { ...object.metadata, ownerReferences } });
  }

  #removeFinalizer(resource: string, owner: KubeObject, finalizer: string): void {
    const finalizers = owner.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
    this.api.update(resource, { ...owner, metadata: { ...owner.metadata, finalizers } });
  }
}

/** True if an object is being deleted and stays because of its dependents. */
function isHeld(object: KubeObject): boolean {
  if (!isTerminating(object)) return false;
  return (
    object.metadata.finalizers?.some((name) => name === foreground || name === orphan) ?? false
  );
}

/** True if an object is being deleted and stays until its dependents are gone. */
function isWaiting(object: KubeObject): boolean {
  return isTerminating(object) && (object.metadata.finalizers?.includes(foreground) ?? false);
}

/** True if a dependent blocks the deletion of the owner with this uid. */
function blocks({ metadata }: KubeObject, ownerUid: string): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion);
}
