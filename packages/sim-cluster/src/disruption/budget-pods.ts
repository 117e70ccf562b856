// The pods of one budget, counted as they change.
import { controllerOf, isReady, isTerminating } from '../controllers/pods.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';

/** A controller of pods, and how many of them it has. */
interface Owned {
  readonly owner: OwnerReference;
  /** The namespace that it shares with its pods. */
  readonly namespace: string;
  pods: number;
}

/**
 * The pods that a budget selects. A pod's part in the budget's counts is computed when that pod
 * changes: a walk over all pods at each change would take time that grows with the square of their
 * number.
 */
export class BudgetPods {
  readonly #pods = new Map<string, KubeObject>();
  readonly #owners = new Map<string, Owned>();
  #healthy = 0;

  /** The number of pods. */
  get size(): number {
    return this.#pods.size;
  }

  /** The number of ready pods that stay, the pods that were evicted a moment ago included. */
  get healthy(): number {
    return this.#healthy;
  }

  /** The controllers of the pods, each once. */
  owners(): Iterable<Owned> {
    return this.#owners.values();
  }

  /** In the order in which they came. */
  all(): Iterable<KubeObject> {
    return this.#pods.values();
  }

  has(key: string): boolean {
    return this.#pods.has(key);
  }

  get(key: string): KubeObject | undefined {
    return this.#pods.get(key);
  }

  /** Takes a pod in the state that it has now. */
  set(key: string, pod: KubeObject): void {
    const before = this.#pods.get(key);
    this.#pods.set(key, pod);
    if (before && countsAlike(before, pod)) return;
    if (before) this.#count(before, -1);
    this.#count(pod, 1);
  }

  delete(key: string): void {
    const before = this.#pods.get(key);
    if (!before) return;
    this.#count(before, -1);
    this.#pods.delete(key);
  }

  #count(pod: KubeObject, by: 1 | -1): void {
    if (isHealthy(pod)) this.#healthy += by;
    const owner = controllerOf(pod);
    if (!owner) return;
    const { namespace = '' } = pod.metadata;
    const owned = this.#owners.get(owner.uid) ?? { owner, namespace, pods: 0 };
    owned.pods += by;
    if (owned.pods > 0) this.#owners.set(owner.uid, owned);
    else this.#owners.delete(owner.uid);
  }
}

/** Most changes of a pod leave its counts unchanged. */
function countsAlike(before: KubeObject, pod: KubeObject): boolean {
  return (
    before.metadata.ownerReferences === pod.metadata.ownerReferences &&
    isHealthy(before) === isHealthy(pod)
  );
}

/** True if a budget counts the pod as healthy. */
export function isHealthy(pod: KubeObject): boolean {
  return isReady(pod) && !isTerminating(pod);
}
