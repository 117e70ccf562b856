// Which pods really serve: a dead machine serves nobody, long before Kubernetes has noticed.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** A pod has begun to serve (1), or serves no more (-1). */
type CountServing = (at: number, pod: KubeObject, change: 1 | -1) => void;
/** Calls back when the pod has started again, at that second. */
type AfterStart = (pod: KubeObject, then: (at: number) => void) => void;

/** The machines that are dead, and the pods that are ready on each machine. */
export class Machines {
  readonly #count: CountServing;
  readonly #afterStart: AfterStart;
  readonly #dead = new Set<string>();
  /** By node, then by uid. */
  readonly #ready = new Map<string, Map<string, KubeObject>>();
  /** Those of them that do not serve, by uid: their machine is dead, or was until lately. */
  readonly #down = new Set<string>();

  constructor(count: CountServing, afterStart: AfterStart) {
    this.#count = count;
    this.#afterStart = afterStart;
  }

  /** A pod has become ready, as far as Kubernetes knows, or is so no more. */
  noteReady(at: number, pod: KubeObject, isReady: boolean): void {
    const node: string = pod.spec.nodeName ?? '';
    const uid = uidOf(pod);
    const pods = this.#ready.get(node) ?? new Map<string, KubeObject>();
    this.#ready.set(node, pods);
    if (isReady) {
      pods.set(uid, pod);
      if (this.#dead.has(node)) this.#down.add(uid);
      else if (this.#down.has(uid)) this.#afterStart(pod, (then) => this.#serve(then, node, uid));
      if (!this.#down.has(uid)) this.#count(at, pod, 1);
    } else if (pods.delete(uid) && !this.#down.has(uid)) this.#count(at, pod, -1);
  }

  /** A machine has died, or is back; then its pods have to start again. */
  noteMachine(at: number, node: string, runs: boolean): void {
    if (this.#dead.has(node) !== runs) return;
    if (runs) this.#dead.delete(node);
    else this.#dead.add(node);
    for (const [uid, pod] of this.#ready.get(node) ?? []) {
      if (runs) this.#afterStart(pod, (then) => this.#serve(then, node, uid));
      else if (!this.#down.has(uid)) {
        this.#down.add(uid);
        this.#count(at, pod, -1);
      }
    }
  }

  #serve(at: number, node: string, uid: string): void {
    if (this.#dead.has(node) || !this.#down.delete(uid)) return;
    const pod = this.#ready.get(node)?.get(uid);
    if (pod) this.#count(at, pod, 1);
  }
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}
