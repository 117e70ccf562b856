import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Taint } from '../objects/tolerations.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { isReady, isTerminal, isTerminating, keyOf, withCondition } from './pods.ts';

/** A node that a pass has missed for less than this may come back under its name. */
const quarantineMs = 40_000;
/** From one pass to the next. */
const passMs = 20_000;
/** Between the last status of a pod and its deletion. */
const deletionMs = 12;
const followed = new Set(['nodes', 'pods']);
const outOfServiceKey = 'node.kubernetes.io/out-of-service';
const pass = 'pass';

/**
 * Collects pods that no kubelet will ever end: those of nodes that were deleted, and terminating
 * ones of nodes that are not Ready and are tainted as out of service, or that no node has. The
 * controller looks at all of them every 20 s, as pod garbage collection of kube-controller-manager
 * does, where there may be any. Work is keyed by `pass`, or by the key of a pod to delete.
 */
export class PodCollector extends Controller {
  /** The beginning of its rhythm. */
  #begunAt = 0;
  /** Nodes that pods name and that are not there, with the pass that missed them first. */
  #missed = new Map<string, number>();

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#begunAt = this.api.clock.now();
    this.#missed.clear();
    for (const pod of this.api.list('pods')) this.#noticePod(pod);
  }

  protected override notice({ type, resource, object }: Change): void {
    if (resource === 'pods' && type !== 'DELETED') this.#noticePod(object);
    if (resource === 'nodes' && (type === 'DELETED' || isOutOfService(object))) this.#awaitPass();
  }

  #noticePod(pod: KubeObject): void {
    const { nodeName } = pod.spec;
    const node = nodeName ? this.api.get('nodes', '', nodeName) : null;
    // Without a node only a finalizer keeps a terminating pod.
    if (nodeName ? !node || (isTerminating(pod) && isOutOfService(node)) : isTerminating(pod)) {
      this.#awaitPass();
    }
  }

  #awaitPass(): void {
    const since = this.api.clock.now() - this.#begunAt;
    this.queue.addAfter(pass, passMs - (since % passMs));
  }

  protected override sync(key: string): void {
    const { api } = this;
    if (key === pass) {
      this.#pass();
      return;
    }
    const found = api.find('pods', key);
    if (!found || !isTerminal(found)) return;
    const { namespace = '', name, uid = '' } = found.metadata;
    api.delete('pods', namespace, name, { gracePeriodSeconds: 0, uid });
  }

  #pass(): void {
    const now = this.api.clock.now();
    const missed = new Map<string, number>();
    let isLeft = false;
    for (const pod of this.api.list('pods')) {
      const name: string = pod.spec.nodeName ?? '';
      const node = name ? this.api.get('nodes', '', name) : null;
      if (name && !node) {
        const since = this.#missed.get(name) ?? now;
        missed.set(name, since);
        if (now - since >= quarantineMs) this.#collect(pod, true);
        else isLeft = true;
      } else if (isTerminating(pod) && (!node || isOutOfService(node))) {
        if (name) this.#collect(pod, false);
        else if (!isTerminal(pod)) this.#markFailed(pod, false);
      }
    }
    this.#missed = missed;
    if (isLeft) this.queue.addAfter(pass, passMs);
  }

  #collect(pod: KubeObject, isOrphan: boolean): void {
    if (!isTerminal(pod)) this.#markFailed(pod, isOrphan);
    this.queue.addAfter(keyOf(pod), deletionMs);
  }

  #markFailed(pod: KubeObject, isOrphan: boolean): void {
    const { api } = this;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    };
    const now = formatTime(api.clock.now());
    const old = pod.status?.conditions;
    const conditions = isOrphan ? withCondition(old, condition, now) : old;
    const status = { ...pod.status, phase: 'Failed', ...(conditions ? { conditions } : {}) };
    api.update('pods', { ...pod, status }, 'status');
  }
}

function isOutOfService(node: KubeObject): boolean {
  const taints: readonly Taint[] = node.spec?.taints ?? [];
  return !isReady(node) && taints.some(({ key }) => key === outOfServiceKey);
}
