// Chooses the node of a pending pod.
import { controllerOf, isActive } from '../controllers/pods.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import { onlyNode } from './node-affinity.ts';
import { isUndemanding, misfits, type Resources, requestsOf } from './node-fit.ts';
import { NodePool, type Place } from './node-pool.ts';

// Counts the pods of each owner on each node, for the scheduler to spread them.

interface Counted {
  readonly owners: readonly OwnerReference[];
  readonly nodeName: string;
}

const nowhere: ReadonlyMap<string, number> = new Map();

/** The active pods of each owner by node, counted as they change. */
class Siblings {
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

/** With fewer nodes than this all are compared; with more, only a share that fits. */
const compareAllBelow = 100;

/**
 * Finds places for pods, one after the other. A pod goes to the node that fits and where, in this order,
 * its zone has the fewest pods of the same controller, the node has the fewest of them, the node has
 * the fewest pods at all; then the order of the pool decides, so equal clusters schedule equally.
 */
export class Placement {
  readonly #pool = new NodePool();
  readonly #siblings = new Siblings();
  #next: number;

  /** `next`: where the search goes on that another one has begun. */
  constructor(next = 0) {
    this.#next = next;
  }

  /** Where the next search begins. */
  get next(): number {
    return this.#next;
  }

  /** Returns whether something that matters for scheduling has changed. */
  setNode(node: KubeObject): boolean {
    return this.#pool.setNode(node);
  }

  deleteNode(name: string): void {
    this.#pool.deleteNode(name);
  }

  /** Takes a pod in the state that it has now. */
  setPod(key: string, pod: KubeObject): void {
    this.#pool.setPod(key, pod);
    this.#siblings.set(key, pod);
  }

  deletePod(key: string): void {
    this.#pool.deletePod(key);
    this.#siblings.delete(key);
  }

  /** The best place that fits; null: none does. */
  best(pod: KubeObject): Place | null {
    const wants = requestsOf(pod);
    const single = this.#onlyPlace(pod);
    if (single) return admits(pod, wants, single) ? single : null;
    const places = this.#pool.places();
    const siblings = this.#siblings.of(controllerOf(pod)?.uid ?? '');
    this.#noteSiblings(siblings, true);
    const best = this.#search(pod, wants, places);
    this.#noteSiblings(siblings, false);
    return best === null ? null : (places[best] ?? null);
  }

  /**
   * The best of as many nodes that fit as are compared. The search goes on where the last one stopped
   * when not all are read.
   */
  #search(pod: KubeObject, wants: Resources, places: readonly Place[]): number | null {
    const { rooms } = this.#pool;
    const takesAny = isUndemanding(pod);
    let index = places.length < compareAllBelow ? 0 : this.#next % places.length;
    let left = comparedAtMost(places.length);
    let best: number | null = null;
    for (let step = 0; step < places.length && left > 0; step++) {
      const place = takesAny && rooms.isOpen(index) ? null : places[index];
      if (place ? admits(pod, wants, place) : rooms.fits(index, wants)) {
        left--;
        if (best === null || rooms.isBetter(index, best)) best = index;
      }
      index++;
      this.#next = index;
      if (index === places.length) index = 0;
    }
    return best;
  }

  #noteSiblings(byNode: ReadonlyMap<string, number>, areThere: boolean): void {
    // For every pod that is placed: an iterator would make a pair of each entry.
    byNode.forEach((count, name) => {
      const place = this.#pool.place(name);
      if (place) this.#pool.rooms.noteSiblings(place.index, areThere ? count : 0);
    });
  }

  /** The node that the pod's affinity names, where there is one. */
  #onlyPlace(pod: KubeObject): Place | null {
    const only = onlyNode(pod.spec);
    return only === null ? null : this.#pool.place(only);
  }

  /** Why a pod fits on no node, and on how many not. */
  #refusals(pod: KubeObject): ReadonlyMap<string, number> {
    const wants = requestsOf(pod);
    const refusals = new Map<string, number>();
    const single = this.#onlyPlace(pod);
    for (const { seen, used } of single ? [single] : this.#pool.places()) {
      for (const reason of misfits(pod, wants, seen, used)) {
        refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
      }
    }
    return refusals;
  }

  /** Why a pod fits nowhere, in kube-scheduler's words. */
  refusal(pod: KubeObject): string {
    const refusals = this.#refusals(pod);
    const total = this.#pool.size;
    if (total === 0) return 'no nodes available to schedule pods';
    const texts = [...refusals].map(([reason, count]) => `${count} ${reason}`);
    const only = onlyNode(pod.spec);
    if (total > 1 && only !== null && this.#pool.place(only)) {
      texts.push(`${total - 1} node(s) didn't satisfy plugin(s) [NodeAffinity]`);
    }
    texts.sort();
    return `0/${total} nodes are available: ${texts.join(', ')}.`;
  }
}

function admits(pod: KubeObject, wants: Resources, { seen, used }: Place): boolean {
  return misfits(pod, wants, seen, used).length === 0;
}

/** kube-scheduler's adaptive share: half of 100 nodes, falling to 5 %, never below 100 nodes. */
function comparedAtMost(nodeCount: number): number {
  if (nodeCount < compareAllBelow) return nodeCount;
  const percent = Math.max(5, 50 - Math.floor(nodeCount / 125));
  return Math.max(compareAllBelow, Math.floor((nodeCount * percent) / 100));
}
