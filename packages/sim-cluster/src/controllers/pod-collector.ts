import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Taint } from '../objects/tolerations.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { isReady, isTerminal, isTerminating, keyOf, withCondition } from './pods.ts';

/** A node that is gone for less than this may come back under its name. */
const quarantineMs = 40_000;
/** It looks for pods that were never bound in such a rhythm. */
const collectMs = 20_000;
const followed = new Set(['nodes', 'pods']);
const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/**
 * Collects pods that no kubelet will ever end: those of nodes that were deleted, and terminating
 * ones of nodes that are not Ready and are tainted as out of service, or that no node has. Work is keyed by
 * node name, or by `/` and the key of a pod without one.
 */
export class PodCollector extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const pod of this.api.list('pods')) this.#noticePod(pod);
  }

  protected override notice({ type, resource, object }: Change): void {
    if (resource === 'pods' && type !== 'DELETED') this.#noticePod(object);
    if (resource !== 'nodes') return;
    const { name } = object.metadata;
    if (type === 'DELETED') this.queue.addAfter(name, quarantineMs);
    else if (isOutOfService(object)) this.queue.add(name);
  }

  #noticePod(pod: KubeObject): void {
    const { nodeName } = pod.spec;
    if (!nodeName) {
      // Only a finalizer keeps it.
      if (isTerminating(pod)) this.queue.addAfter(`/${keyOf(pod)}`, collectMs);
      return;
    }
    const node = this.api.get('nodes', '', nodeName);
    if (!node) this.queue.addAfter(nodeName, quarantineMs);
    else if (isTerminating(pod) && isOutOfService(node)) this.queue.add(nodeName);
  }

  protected override sync(nodeName: string): void {
    const { api, lookup } = this;
    const unbound = nodeName.startsWith('/') ? api.find('pods', nodeName.slice(1)) : null;
    if (unbound && isTerminating(unbound) && !isTerminal(unbound)) this.#markFailed(unbound, false);
    const node = api.get('nodes', '', nodeName);
    if (node && !isOutOfService(node)) return;
    for (const pod of lookup.podsOnNode(nodeName)) {
      if (node && !isTerminating(pod)) continue;
      if (!isTerminal(pod)) this.#markFailed(pod, node === null);
      const { namespace = '', name, uid = '' } = pod.metadata;
      api.delete('pods', namespace, name, { gracePeriodSeconds: 0, uid });
    }
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
