// The pods of a drain and how far each one's way out has come.
import { untried } from '../attempt/attempt.ts';
import { Schedule } from '../kernel/schedule.ts';
import { type PodRef, podRef } from '../model/pod.ts';
import { type DrainPod, type DrainPodState, isDone } from './state.ts';

const fresh: Omit<DrainPod, 'pod' | 'state'> = {
  ...untried,
  because: [],
  due: null,
  blocker: null,
  deleted: false,
  begunAt: null,
  claim: 'none',
  awaitsAnswer: false,
  vanishedAt: null,
  hold: null,
  disruption: null,
  taken: null,
};

/** What is known about the pods of target nodes, by uid and by node, and when each is looked at again. */
export class DrainPods {
  /** By uid. */
  readonly schedule: Schedule = new Schedule();
  readonly #pods = new Map<string, DrainPod>();
  readonly #byNode = new Map<string, Set<string>>();

  get(uid: string): DrainPod | null {
    return this.#pods.get(uid) ?? null;
  }

  /** In the order in which they were first seen. */
  all(): readonly DrainPod[] {
    return [...this.#pods.values()];
  }

  on(nodeName: string): readonly DrainPod[] {
    return Array.from(this.#byNode.get(nodeName) ?? [], (uid) => this.#pods.get(uid)).filter(
      (pod) => pod !== undefined,
    );
  }

  delete(uid: string): void {
    const pod = this.#pods.get(uid);
    if (!pod) return;
    this.#pods.delete(uid);
    this.#byNode.get(pod.pod.nodeName)?.delete(uid);
  }

  /** Changes what is known about a pod, and answers it. */
  put(
    named: PodRef,
    state: DrainPodState,
    changed: Partial<Omit<DrainPod, 'pod' | 'state'>> = {},
  ): DrainPod {
    const pod = podRef(named);
    if ('until' in state) this.schedule.set(pod.uid, state.until);
    else if (isDone(state)) this.schedule.cancel(pod.uid);
    const next = { ...fresh, ...this.#pods.get(pod.uid), ...changed, state, pod };
    this.#pods.set(pod.uid, next);
    const onNode = this.#byNode.get(pod.nodeName) ?? new Set();
    this.#byNode.set(pod.nodeName, onNode.add(pod.uid));
    return next;
  }
}
