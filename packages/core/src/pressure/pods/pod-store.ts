import type { Instant } from '../../kernel/time.ts';
import type { PressureBehaviour } from '../behaviours.ts';
import { type Demand, demandOf } from './demand.ts';
import { isFinished, type PressurePod } from './pressure-pod.ts';

/** A pod, its requests, and since when we know that it terminates. */
export interface StoredPod {
  readonly pod: PressurePod;
  readonly demand: Demand | null;
  readonly leavingSince: Instant | null;
}

/** The pods of all nodes, those of one in the order in which they became known. */
export class PodStore {
  readonly #waitsForLeaving: boolean;
  readonly #nodeOf = new Map<string, string>();
  readonly #byNode = new Map<string, Map<string, StoredPod>>();

  constructor({ waitsForLeaving }: Pick<PressureBehaviour, 'waitsForLeaving'>) {
    this.#waitsForLeaving = waitsForLeaving;
  }

  /** Takes in the present state of a pod. */
  put(now: Instant, pod: PressurePod): void {
    const before = this.#find(pod.uid);
    if (before && before.pod.nodeName !== pod.nodeName) this.delete(pod.uid);
    if (pod.nodeName === '') return;
    const leavingSince = pod.deletionTimestamp === null ? null : (before?.leavingSince ?? now);
    const pods = this.#byNode.get(pod.nodeName) ?? new Map<string, StoredPod>();
    pods.set(pod.uid, { pod, demand: demandOf(pod), leavingSince });
    this.#byNode.set(pod.nodeName, pods);
    this.#nodeOf.set(pod.uid, pod.nodeName);
  }

  /** The node of a pod that was known, and is no more; null: it was not. */
  delete(uid: string): string | null {
    const nodeName = this.#nodeOf.get(uid) ?? null;
    if (nodeName === null) return null;
    this.#nodeOf.delete(uid);
    const pods = this.#byNode.get(nodeName);
    pods?.delete(uid);
    if (pods?.size === 0) this.#byNode.delete(nodeName);
    return nodeName;
  }

  /** The pods of a node that have not ended. */
  activeOn(nodeName: string): readonly StoredPod[] {
    return [...(this.#byNode.get(nodeName)?.values() ?? [])].filter(
      ({ pod }) => !this.#hasEnded(pod),
    );
  }

  /** True when a pod is known and has not ended. */
  isActive(uid: string): boolean {
    const found = this.#find(uid);
    return found !== null && !this.#hasEnded(found.pod);
  }

  /**
   * The evicting program wrote the phase of a pod on its way out. Its containers may run on for
   * their grace period, with their usage: it has ended when it is gone.
   */
  #hasEnded(pod: PressurePod): boolean {
    return isFinished(pod) && !(this.#waitsForLeaving && pod.deletionTimestamp !== null);
  }

  #find(uid: string): StoredPod | null {
    return this.#byNode.get(this.#nodeOf.get(uid) ?? '')?.get(uid) ?? null;
  }
}
