import { Controller } from '../controllers/controller.ts';
import {
  conditionOf,
  controllerOf,
  isActive,
  isTerminal,
  keyOf,
  withCondition,
} from '../controllers/pods.ts';
import type { Timer } from '../kernel/clock.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change } from '../store/cluster-api.ts';
import { onlyNode } from './node-affinity.ts';
import { isUndemanding, misfits, type Resources, requestsOf } from './node-fit.ts';
import { NodePool, type Place } from './node-pool.ts';
import { Siblings } from './siblings.ts';

const followed = new Set(['nodes', 'pods']);
const ownSchedulerName = 'default-scheduler';
/** Pods that did not fit are tried again this long after something has changed. */
const retryMs = 1000;
/** With fewer nodes than this all are compared; with more, only a share that fits. */
const compareAllBelow = 100;

/**
 * A small scheduler: binds each pending pod to a node that fits. A pending pod goes to the node
 * that fits and where, in this order, its zone has the fewest pods of the same controller, the node
 * has the fewest of them, the node has the fewest pods at all; then the order of the pool decides,
 * so equal clusters schedule equally.
 */
export class Scheduler extends Controller {
  readonly #unschedulable = new Set<string>();
  #pool = new NodePool();
  #siblings = new Siblings();
  #next = 0;
  #retry: Timer | null = null;

  override get isIdle(): boolean {
    return super.isIdle && this.#retry === null;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#pool = new NodePool();
    this.#siblings = new Siblings();
    for (const node of this.api.list('nodes')) this.#pool.setNode(node);
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
      if (isGone) this.#pool.deleteNode(object.metadata.name);
      else if (this.#pool.setNode(object)) this.#retrySoon();
    } else if (resource === 'pods') {
      if (previous && !equal(previous.spec, object.spec)) this.#unschedulable.delete(key);
      if (isGone) this.#forgetPod(key, object);
      else this.#noticePod(key, object);
    }
  }

  #forgetPod(key: string, pod: KubeObject): void {
    this.#pool.deletePod(key);
    this.#siblings.delete(key);
    this.#unschedulable.delete(key);
    if (pod.spec.nodeName) this.#retrySoon();
  }

  #noticePod(key: string, pod: KubeObject): void {
    this.#pool.setPod(key, pod);
    this.#siblings.set(key, pod);
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
    const best = this.#best(pod);
    if (best) api.bind(namespace, name, best.name);
    else this.#reportUnschedulable(key, pod, this.#message(pod, this.#refusals(pod)));
  }

  /** The best place that fits. */
  #best(pod: KubeObject): Place | null {
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
    for (const [name, count] of byNode) {
      const place = this.#pool.place(name);
      if (place) this.#pool.rooms.noteSiblings(place.index, areThere ? count : 0);
    }
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

  #message(pod: KubeObject, refusals: ReadonlyMap<string, number>): string {
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

function admits(pod: KubeObject, wants: Resources, { seen, used }: Place): boolean {
  return misfits(pod, wants, seen, used).length === 0;
}

function isPending(pod: KubeObject): boolean {
  const { nodeName, schedulerName = ownSchedulerName, schedulingGates = [] } = pod.spec;
  return (
    !nodeName && schedulerName === ownSchedulerName && schedulingGates.length === 0 && isActive(pod)
  );
}

/** kube-scheduler's adaptive share: half of 100 nodes, falling to 5 %, never below 100 nodes. */
function comparedAtMost(nodeCount: number): number {
  if (nodeCount < compareAllBelow) return nodeCount;
  const percent = Math.max(5, 50 - Math.floor(nodeCount / 125));
  return Math.max(compareAllBelow, Math.floor((nodeCount * percent) / 100));
}
