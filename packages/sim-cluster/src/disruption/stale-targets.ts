import { Controller } from '../controllers/controller.ts';
import { conditionOf, isActive, keyOf, splitKey, withCondition } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change } from '../store/cluster-api.ts';

const staleAfterMs = 120_000;
const followed = new Set(['pods']);
const disruptionTarget = 'DisruptionTarget';

/**
 * Removes the DisruptionTarget condition of pods that were marked for deletion two minutes ago and
 * are still not being deleted. A kubelet's mark stays.
 */
export class StaleTargets extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const pod of this.api.list('pods')) this.#noticePod(keyOf(pod), pod);
  }

  protected override notice({ type, resource, key, object }: Change): void {
    if (resource === 'pods' && type !== 'DELETED') this.#noticePod(key, object);
  }

  #noticePod(key: string, pod: KubeObject): void {
    const waitMs = this.#untilStale(pod);
    if (waitMs !== null) this.queue.addAfter(key, Math.max(0, waitMs));
  }

  /** Milliseconds until the mark is stale, null when the pod has none that can be. */
  #untilStale(pod: KubeObject): number | null {
    const target = conditionOf(pod, disruptionTarget);
    if (target?.status !== 'True' || target.reason === 'TerminationByKubelet') return null;
    if (!isActive(pod)) return null;
    const since = Date.parse(target.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
    return since + staleAfterMs - this.api.clock.now();
  }

  protected override sync(key: string): void {
    const { api } = this;
    const pod = api.get('pods', ...splitKey(key));
    const waitMs = pod ? this.#untilStale(pod) : null;
    if (!pod || waitMs === null) return;
    if (waitMs > 0) {
      this.queue.addAfter(key, waitMs);
      return;
    }
    const now = formatTime(api.clock.now());
    const condition = { type: disruptionTarget, status: 'False' };
    const conditions = withCondition(pod.status?.conditions, condition, now);
    api.update('pods', { ...pod, status: { ...pod.status, conditions } }, 'status');
  }
}
