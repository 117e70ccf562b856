// Which pods really serve: a dead machine serves nobody, long before Kubernetes has noticed.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** A pod has begun to serve (1), or serves no more (-1). */
type CountServing = (at: number, pod: KubeObject, change: 1 | -1) => void;

/** The machines that are dead, and the pods that are ready on each machine. */
export class Machines {
  readonly #count: CountServing;
  readonly #dead = new Set<string>();
  /** By node, then by uid. */
  readonly #ready = new Map<string, Map<string, KubeObject>>();

  constructor(count: CountServing) {
    this.#count = count;
  }

  /** A pod has become ready, as far as Kubernetes knows, or is so no more. */
  noteReady(at: number, pod: KubeObject, isReady: boolean): void {
    const node: string = pod.spec.nodeName ?? '';
    const uid = pod.metadata.uid ?? '';
    const pods = this.#ready.get(node) ?? new Map<string, KubeObject>();
    this.#ready.set(node, pods);
    if (isReady) pods.set(uid, pod);
    else if (!pods.delete(uid)) return;
    if (!this.#dead.has(node)) this.#count(at, pod, isReady ? 1 : -1);
  }

  /** A machine has died, or is back. */
  noteMachine(at: number, node: string, runs: boolean): void {
    if (this.#dead.has(node) !== runs) return;
    if (runs) this.#dead.delete(node);
    else this.#dead.add(node);
    for (const pod of this.#ready.get(node)?.values() ?? []) this.#count(at, pod, runs ? 1 : -1);
  }
}
