// Makes a workload the controller of the objects that its selector matches, and of no others.
import { Controller } from '../controllers/controller.ts';
import { adoptable } from '../controllers/lookup.ts';
import { controllerOf, isTerminating, keyOf } from '../controllers/pods.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import { labelSelectorRequirements, matchesLabels, type Requirement } from '../selectors/labels.ts';
import type { Change } from '../store/cluster-api.ts';
import { workloadKinds, workloadResources } from './kinds.ts';
import { ownerReference } from './workload.ts';

/**
 * Workloads adopt the pods and ReplicaSets without a controller that their selectors match, e.g.
 * those that the deletion of another workload has left, and release those that do not match any
 * more. Keys are `RESOURCE/KEY` of objects that may change their owner. Ownership looks only at
 * changes of labels and owners, and for a new workload at the objects without a controller that it
 * selects: a pod that starts costs nothing.
 */
export class Ownership extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return workloadResources;
  }

  protected override begin(): void {
    for (const resource of adoptable) {
      for (const key of this.lookup.orphans(resource)) this.queue.add(`${resource}/${key}`);
    }
    for (const { resource, creates } of workloadKinds) {
      for (const workload of this.api.list(resource)) this.#addUnselected(creates, workload);
    }
  }

  /**
   * Queues the objects of a workload that it does not select, e.g. because their labels changed
   * while this controller was stopped.
   */
  #addUnselected(creates: string, workload: KubeObject): void {
    const requirements = selectorOf(workload);
    for (const object of this.lookup.ownedBy(workload, creates)) {
      const isSelected = matchesLabels(requirements, object.metadata.labels ?? {});
      if (!isSelected) this.queue.add(`${creates}/${keyOf(object)}`);
    }
  }

  protected override notice({ type, resource, key, object, previous }: Change): void {
    if (type === 'DELETED') return;
    const isNew = !previous;
    if (adoptable.includes(resource)) {
      const mayChange = isNew ? !controllerOf(object) : !isClaimedAlike(previous, object);
      if (mayChange) this.queue.add(`${resource}/${key}`);
    }
    if (isNew && resource !== 'pods') this.#addOrphansOf(resource, object);
  }

  /** Queues the objects without a controller that a new workload selects. */
  #addOrphansOf(resource: string, workload: KubeObject): void {
    const creates = workloadKinds.find((one) => one.resource === resource)?.creates ?? '';
    const requirements = selectorOf(workload);
    if (requirements.length === 0) return;
    for (const key of this.lookup.orphans(creates)) {
      if (!key.startsWith(`${workload.metadata.namespace}/`)) continue;
      const labels = this.api.find(creates, key)?.metadata.labels ?? {};
      if (matchesLabels(requirements, labels)) this.queue.add(`${creates}/${key}`);
    }
  }

  protected override sync(work: string): void {
    const slash = work.indexOf('/');
    const resource = work.slice(0, slash);
    const object = this.api.find(resource, work.slice(slash + 1));
    if (!object) return;
    const owner = controllerOf(object);
    if (owner) this.#release(resource, object, owner);
    else if (!isTerminating(object)) this.#adopt(resource, object);
  }

  #adopt(resource: string, object: KubeObject): void {
    for (const kind of workloadKinds) {
      if (kind.creates !== resource) continue;
      const workload = this.api
        .list(kind.resource, object.metadata.namespace ?? '')
        .find(
          (one) =>
            !isTerminating(one) && selects(one, object) && kind.fits?.(one, object) !== false,
        );
      if (!workload) continue;
      const { uid } = workload.metadata;
      const owners = object.metadata.ownerReferences ?? [];
      const others = owners.filter((one) => one.uid !== uid);
      this.#setOwners(resource, object, [...others, ownerReference(kind, workload)]);
      return;
    }
  }

  #release(resource: string, object: KubeObject, { kind, name, uid }: OwnerReference): void {
    const { namespace = '', ownerReferences = [], labels = {} } = object.metadata;
    const known = workloadKinds.find((one) => one.creates === resource && one.kind === kind);
    const owner = known && this.api.get(known.resource, namespace, name);
    if (!owner || owner.metadata.uid !== uid || isTerminating(owner)) return;
    if (matchesLabels(selectorOf(owner), labels)) return;
    const others = ownerReferences.filter((one) => one.uid !== uid);
    this.#setOwners(resource, object, others);
  }

  #setOwners(resource: string, object: KubeObject, owners: readonly OwnerReference[]): void {
    const metadata = { ...object.metadata, ownerReferences: owners };
    this.api.update(resource, { ...object, metadata });
  }
}

/** True if both states have the same labels and owners: an unchanged part is the same value. */
function isClaimedAlike({ metadata: before }: KubeObject, { metadata: now }: KubeObject): boolean {
  return before.labels === now.labels && before.ownerReferences === now.ownerReferences;
}

/** A selector that asks for nothing adopts nothing. */
function selects(workload: KubeObject, { metadata }: KubeObject): boolean {
  const requirements = selectorOf(workload);
  return requirements.length > 0 && matchesLabels(requirements, metadata.labels ?? {});
}

function selectorOf({ spec }: KubeObject): readonly Requirement[] {
  return labelSelectorRequirements(spec.selector) ?? [];
}
