import { entry } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { isTerminating, keyOf, splitKey } from './pods.ts';

/** The resources of the kinds that own something in this cluster. */
const ownerResources: Readonly<Record<string, string>> = {
  DaemonSet: 'daemonsets',
  Deployment: 'deployments',
  Job: 'jobs',
  Node: 'nodes',
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
};

/** Finalizers by which a delete request says what becomes of the dependents. */
const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/**
 * Deletes objects that have lost their owner, and carries out foreground and orphaning deletion.
 * Work is keyed by owner: `UID RESOURCE KEY`.
 */
export class GarbageCollector extends Controller {
  protected override begin(): void {
    for (const resource of ['pods', 'replicasets', 'leases']) {
      for (const object of this.api.list(resource)) this.#noticeOwners(object);
    }
  }

  protected override notice({ type, resource, object }: Change): void {
    if (type === 'DELETED') this.#noticeOwners(object);
    if (type === 'DELETED' || isTerminating(object)) this.#noticeOwner(resource, object);
  }

  #noticeOwner(resource: string, object: KubeObject): void {
    const { uid = '', finalizers = [] } = object.metadata;
    const isWaiting = finalizers.includes(foreground) || finalizers.includes(orphan);
    if (!isWaiting && this.lookup.dependentsOf(uid).length === 0) return;
    this.queue.add(`${uid} ${resource} ${keyOf(object)}`);
  }

  #noticeOwners({ metadata }: KubeObject): void {
    for (const { kind, name, uid } of metadata.ownerReferences ?? []) {
      const resource = entry(ownerResources, kind);
      const namespace = kind === 'Node' ? '' : `${metadata.namespace}/`;
      if (resource) this.queue.add(`${uid} ${resource} ${namespace}${name}`);
    }
  }

  protected override sync(work: string): void {
    const [uid = '', resource = '', key = ''] = work.split(' ');
    const [namespace, name] = splitKey(key);
    const stored = this.api.get(resource, namespace, name);
    const owner = stored?.metadata.uid === uid ? stored : null;
    const finalizers = owner?.metadata.finalizers ?? [];
    if (!owner && this.lookup.isOwnerElsewhere(uid)) return;
    if (!owner) this.#deleteDependents(uid);
    else if (!isTerminating(owner)) return;
    else if (finalizers.includes(orphan)) {
      this.#orphanDependents(uid);
      this.#removeFinalizer(resource, owner, orphan);
    } else if (finalizers.includes(foreground)) {
      this.#deleteDependents(uid);
      if (this.lookup.dependentsOf(uid).length > 0) return;
      this.#removeFinalizer(resource, owner, foreground);
    }
  }

  /** An object with another owner beside this one stays. */
  #deleteDependents(uid: string): void {
    const { api, lookup } = this;
    for (const { resource, object } of lookup.dependentsOf(uid)) {
      const { namespace = '', name, ownerReferences = [] } = object.metadata;
      if (isTerminating(object) || ownerReferences.length > 1) continue;
      api.delete(resource, namespace, name, { uid: object.metadata.uid ?? '' });
    }
  }

  #orphanDependents(uid: string): void {
    const { api, lookup } = this;
    for (const { resource, object } of lookup.dependentsOf(uid)) {
      const owners = object.metadata.ownerReferences ?? [];
      const ownerReferences = owners.filter((owner) => owner.uid !== uid);
      api.update(resource, { ...object, metadata: { ...object.metadata, ownerReferences } });
    }
  }

  #removeFinalizer(resource: string, owner: KubeObject, finalizer: string): void {
    const finalizers = owner.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
    this.api.update(resource, { ...owner, metadata: { ...owner.metadata, finalizers } });
  }
}
