import { Controller, type ControllerContext } from '../controllers/controller.ts';
import { conditionOf, isActive, isTerminal, keyOf, withCondition } from '../controllers/pods.ts';
import type { Timer } from '../kernel/clock.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change } from '../store/cluster-api.ts';
import { Placement } from './placement.ts';

const followed = new Set(['nodes', 'pods']);
const ownSchedulerName = 'default-scheduler';
/** Pods that did not fit are tried again this long after something has changed. */
const retryMs = 1000;

/** A small scheduler: binds each pending pod to a node that fits, see Placement. */
export class Scheduler extends Controller {
  readonly #unschedulable = new Set<string>();
  #placement: Placement;
  #retry: Timer | null = null;

  /** `next`: where the search goes on that another one has begun. */
  constructor(context: ControllerContext, next = 0) {
    super(context);
    this.#placement = new Placement(next);
  }

  override get isIdle(): boolean {
    return super.isIdle && this.#retry === null;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#placement = new Placement(this.#placement.next);
    for (const node of this.api.list('nodes')) this.#placement.setNode(node);
    for (const pod of this.api.list('pods')) this.#noticePod(keyOf(pod), pod);
  }

  override stop(): void {
    super.stop();
    this.#unschedulable.clear();
    this.#retry?.cancel();
    this.#retry = null;
  }

  protected override notice({ type, resource, key, object, previous }: Change): void {
    const isGone = type === 'DELETED';
    if (resource === 'nodes') {
      if (isGone) this.#placement.deleteNode(object.metadata.name);
      else if (this.#placement.setNode(object)) this.#retrySoon();
    } else if (resource === 'pods') {
      if (previous && !equal(previous.spec, object.spec)) this.#unschedulable.delete(key);
      if (isGone) this.#forgetPod(key, object);
      else this.#noticePod(key, object);
    }
  }

  #forgetPod(key: string, pod: KubeObject): void {
    this.#placement.deletePod(key);
    this.#unschedulable.delete(key);
    if (pod.spec.nodeName) this.#retrySoon();
  }

  #noticePod(key: string, pod: KubeObject): void {
    this.#placement.setPod(key, pod);
    if (isTerminal(pod)) this.#retrySoon();
    else if (!pod.spec.nodeName && !this.#unschedulable.has(key)) this.queue.add(key);
  }

  #retrySoon(): void {
    if (this.#unschedulable.size === 0 || this.#retry) return;
    this.#retry = this.api.clock.after(retryMs, () => {
      this.#retry = null;
      for (const key of this.#unschedulable) this.queue.add(key);
      this.#unschedulable.clear();
    });
  }

  protected override sync(key: string): void {
    const { api } = this;
    const pod = api.find('pods', key);
    if (!pod || !isPending(pod)) return;
    const { namespace = '', name } = pod.metadata;
    const best = this.#placement.best(pod);
    if (best) api.bind(namespace, name, best.name);
    else this.#reportUnschedulable(key, pod, this.#placement.refusal(pod));
  }

  #reportUnschedulable(key: string, pod: KubeObject, message: string): void {
    this.#unschedulable.add(key);
    const old = conditionOf(pod, 'PodScheduled');
    if (old?.status === 'False' && old.message === message) return;
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    const { api } = this;
    const now = formatTime(api.clock.now());
    const conditions = withCondition(pod.status?.conditions, condition, now);
    api.update('pods', { ...pod, status: { ...pod.status, conditions } }, 'status');
  }
}

/** Whether a pod waits for a place, from this scheduler. */
export function isPending(pod: KubeObject): boolean {
  const { nodeName, schedulerName = ownSchedulerName, schedulingGates = [] } = pod.spec;
  return (
    !nodeName && schedulerName === ownSchedulerName && schedulingGates.length === 0 && isActive(pod)
  );
}
