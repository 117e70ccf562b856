import type { KubeObject } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import { controllerOf, isActive, isEnding, isReady, keyOf } from './pods.ts';

/** An object that names an owner. */
export interface Dependent {
  readonly resource: string;
  readonly object: KubeObject;
}

/** The same in the state that it has now. */
interface Kept extends Dependent {
  object: KubeObject;
}

/**
 * The numbers of an owner's pods: those that count as replicas, the ready ones of these, and the
 * other ones that are ending.
 */
interface Replicas {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

const noReplicas: Replicas = { active: 0, ready: 0, terminating: 0 };

/** The resources that workloads create, and may adopt. */
export const adoptable: readonly string[] = ['pods', 'replicasets'];

/**
 * The lookups that would otherwise need a walk over everything stored: the pods bound to a node,
 * the dependents of an object, and the objects without a controller. The changes themselves keep it
 * up to date, so a controller always sees the current state of the API server.
 */
export class Lookup {
  readonly #podsOnNode = new Map<string, Map<string, KubeObject>>();
  readonly #dependents = new Map<string, Map<string, Kept>>();
  readonly #replicas = new Map<string, Replicas>();
  /** Keys by resource, of those that workloads may adopt. */
  readonly #orphans = new Map<string, Set<string>>(
    adoptable.map((resource) => [resource, new Set()]),
  );
  readonly #ownersElsewhere: ReadonlySet<string>;

  constructor(api: ClusterApi) {
    for (const { storeKey } of api.stored()) {
      for (const object of api.list(storeKey)) {
        this.#add(storeKey, keyOf(object), object);
        this.#setOrphan(storeKey, keyOf(object), object);
        if (storeKey === 'pods') this.#count(object, 1);
      }
    }
    this.#ownersElsewhere = this.#missingOwners(api);
    api.subscribe(({ type, resource, key, object, previous }) => {
      if (previous && (type === 'DELETED' || !isAtOnePlace(previous, object))) {
        this.#leave(resource, key, previous, type === 'DELETED' ? null : object);
      }
      if (resource === 'pods') this.#recount(previous, type === 'DELETED' ? null : object);
      if (type !== 'DELETED') this.#add(resource, key, object);
      if (type === 'DELETED') this.#orphans.get(resource)?.delete(key);
      else if (!previous || !isOwnedAlike(previous, object)) this.#setOrphan(resource, key, object);
    });
  }

  /** The pods bound to the node, terminal ones included, in the order in which they were bound. */
  podsOnNode(nodeName: string): readonly KubeObject[] {
    return [...(this.#podsOnNode.get(nodeName)?.values() ?? [])];
  }

  /** Everything that names this uid as an owner, oldest first. */
  dependentsOf(ownerUid: string): readonly Dependent[] {
    return [...(this.#dependents.get(ownerUid)?.values() ?? [])];
  }

  /** The dependents of one resource, e.g. the pods of a ReplicaSet. */
  ownedBy(owner: KubeObject, resource: string): readonly KubeObject[] {
    const owned: KubeObject[] = [];
    for (const dependent of this.#dependents.get(owner.metadata.uid ?? '')?.values() ?? []) {
      if (dependent.resource === resource) owned.push(dependent.object);
    }
    return owned;
  }

  /** The keys of the objects of an adoptable resource that have no controller. */
  orphans(resource: string): Iterable<string> {
    return this.#orphans.get(resource) ?? [];
  }

  /** The replicas of an owner of pods. */
  replicasOf(owner: KubeObject): Replicas {
    return this.#replicas.get(owner.metadata.uid ?? '') ?? noReplicas;
  }

  /** Most changes of a pod change nothing of how it counts. */
  #recount(previous: KubeObject | null, next: KubeObject | null): void {
    if (previous && next && countsAlike(previous, next)) return;
    if (previous) this.#count(previous, -1);
    if (next) this.#count(next, 1);
  }

  #count(pod: KubeObject, by: 1 | -1): void {
    const active = isActive(pod) ? by : 0;
    const ready = active !== 0 && isReady(pod) ? by : 0;
    const terminating = isEnding(pod) ? by : 0;
    if (active === 0 && terminating === 0) return;
    for (const { uid } of pod.metadata.ownerReferences ?? []) {
      const known = this.#replicas.get(uid) ?? noReplicas;
      const next = {
        active: known.active + active,
        ready: known.ready + ready,
        terminating: known.terminating + terminating,
      };
      if (next.active + next.terminating === 0) this.#replicas.delete(uid);
      else this.#replicas.set(uid, next);
    }
  }

  /**
   * True if the owner with this uid was missing from the start: a snapshot may leave out owners of
   * its objects.
   */
  isOwnerElsewhere(ownerUid: string): boolean {
    return this.#ownersElsewhere.has(ownerUid);
  }

  #missingOwners(api: ClusterApi): ReadonlySet<string> {
    const missing = new Set(this.#dependents.keys());
    if (missing.size === 0) return missing;
    for (const { storeKey } of api.stored()) {
      for (const { metadata } of api.list(storeKey)) missing.delete(metadata.uid ?? '');
    }
    return missing;
  }

  #setOrphan(resource: string, key: string, object: KubeObject): void {
    const orphans = this.#orphans.get(resource);
    if (controllerOf(object)) orphans?.delete(key);
    else orphans?.add(key);
  }

  #add(resource: string, key: string, object: KubeObject): void {
    if (resource === 'pods' && object.spec.nodeName) {
      entry(this.#podsOnNode, object.spec.nodeName).set(key, object);
    }
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const dependents = entry(this.#dependents, uid);
      const member = memberOf(resource, key, object);
      const known = dependents.get(member);
      if (known?.resource === resource) known.object = object;
      else dependents.set(member, { resource, object });
    }
  }

  /** Forgets where `previous` was found, unless its successor is found there too. */
  #leave(resource: string, key: string, previous: KubeObject, next: KubeObject | null): void {
    const nodeName = resource === 'pods' ? previous.spec.nodeName : undefined;
    if (nodeName && next?.spec.nodeName !== nodeName) remove(this.#podsOnNode, nodeName, key);
    for (const { uid } of previous.metadata.ownerReferences ?? []) {
      if (next?.metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
      remove(this.#dependents, uid, memberOf(resource, key, previous));
    }
  }
}

/** The identity of a dependent among those of its owner; a loaded object may have no uid. */
function memberOf(resource: string, key: string, { metadata }: KubeObject): string {
  return metadata.uid || `${resource}/${key}`;
}

/** True if both states are found in the same places: an unchanged part is the same value. */
function isAtOnePlace(previous: KubeObject, next: KubeObject): boolean {
  return isOwnedAlike(previous, next) && previous.spec?.nodeName === next.spec?.nodeName;
}

/** True if both states have the same owners. */
export function isOwnedAlike(previous: KubeObject, next: KubeObject): boolean {
  return previous.metadata.ownerReferences === next.metadata.ownerReferences;
}

function countsAlike(previous: KubeObject, next: KubeObject): boolean {
  return (
    isOwnedAlike(previous, next) &&
    isActive(previous) === isActive(next) &&
    isEnding(previous) === isEnding(next) &&
    isReady(previous) === isReady(next)
  );
}

function entry<V>(index: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let found = index.get(key);
  if (!found) {
    found = new Map();
    index.set(key, found);
  }
  return found;
}

function remove<V>(index: Map<string, Map<string, V>>, key: string, member: string): void {
  const found = index.get(key);
  found?.delete(member);
  if (found?.size === 0) index.delete(key);
}
