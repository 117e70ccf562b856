// How many pods of each owner are on which nodes, for the scheduler to spread them.
import { isActive } from '../controllers/pods.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';

interface Counted {
  readonly owners: readonly OwnerReference[];
  readonly nodeName: string;
}

const nowhere: ReadonlyMap<string, number> = new Map();

/** The active pods of each owner by node, counted as they change. */
export class Siblings {
  readonly #pods = new Map<string, Counted>();
  readonly #nodes = new Map<string, Map<string, number>>();

  /** How many pods of the owner with this uid each node has. */
  of(ownerUid: string): ReadonlyMap<string, number> {
    return this.#nodes.get(ownerUid) ?? nowhere;
  }

  /** Takes a pod in the state that it has now. */
  set(key: string, pod: KubeObject): void {
    const { ownerReferences: owners } = pod.metadata;
    const { nodeName } = pod.spec;
    const counted = this.#pods.get(key);
    const counts = owners !== undefined && nodeName !== undefined && isActive(pod);
    if (counts && counted?.owners === owners && counted.nodeName === nodeName) return;
    this.delete(key);
    if (!counts) return;
    this.#pods.set(key, { owners, nodeName });
    for (const { uid } of owners) this.#count(uid, nodeName, 1);
  }

  delete(key: string): void {
    const counted = this.#pods.get(key);
    if (!counted) return;
    this.#pods.delete(key);
    for (const { uid } of counted.owners) this.#count(uid, counted.nodeName, -1);
  }

  #count(uid: string, nodeName: string, by: 1 | -1): void {
    const nodes = this.#nodes.get(uid) ?? new Map<string, number>();
    const count = (nodes.get(nodeName) ?? 0) + by;
    if (count > 0) nodes.set(nodeName, count);
    else nodes.delete(nodeName);
    if (nodes.size > 0) this.#nodes.set(uid, nodes);
    else this.#nodes.delete(uid);
  }
}
