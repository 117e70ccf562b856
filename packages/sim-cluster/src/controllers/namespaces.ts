import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change, StoredKind } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { deletionConditions, type Remaining } from './namespace-conditions.ts';
import { type Condition, isTerminating, withCondition } from './pods.ts';

const namespaceFinalizer = 'kubernetes';
/** Nothing is deleted before this time is over, so that all caches know of the deletion. */
const delayMs = 5000;
/** How often a namespace is looked at that something holds. */
const againMs = 5000;

/**
 * Empties a namespace that is being deleted, pods first, and lets it go when the last of its
 * contents, pods after their grace period, is gone. Work is keyed by namespace.
 */
export class Namespaces extends Controller {
  protected override begin(): void {
    for (const namespace of this.api.list('namespaces')) {
      if (isTerminating(namespace)) this.queue.add(namespace.metadata.name);
    }
  }

  protected override notice({ type, resource, object }: Change): void {
    const { namespace = '', name } = object.metadata;
    if (resource === 'namespaces' && isTerminating(object)) this.queue.add(name);
    if (type !== 'DELETED' || namespace === '') return;
    const home = this.api.get('namespaces', '', namespace);
    if (home && isTerminating(home)) this.queue.add(namespace);
  }

  protected override sync(name: string): void {
    const { api } = this;
    const namespace = api.get('namespaces', '', name);
    if (!namespace || !isTerminating(namespace)) return;
    const begins = Date.parse(namespace.metadata.deletionTimestamp ?? '') + delayMs;
    const wait = begins - api.clock.now();
    if (wait > 0) {
      this.queue.addAfter(name, wait);
      return;
    }
    if ((namespace.spec?.finalizers ?? []).length === 0) return;
    const remaining = this.#empty(name);
    const current = this.#withConditions(namespace, remaining);
    if (remaining.length > 0) this.queue.addAfter(name, againMs);
    else this.#letGo(current);
  }

  /** Deletes what is not on its way out yet, the rest only when no pod is left. */
  #empty(namespace: string): readonly Remaining[] {
    const kinds = this.api.stored().filter(({ namespaced }) => namespaced);
    const isPods = ({ storeKey }: StoredKind): boolean => storeKey === 'pods';
    const pods = kinds.filter(isPods).flatMap((kind) => this.#emptyOf(kind, namespace));
    return pods.length > 0 ? pods : kinds.flatMap((kind) => this.#emptyOf(kind, namespace));
  }

  #emptyOf(resource: StoredKind, namespace: string): readonly Remaining[] {
    const { api } = this;
    const { storeKey } = resource;
    for (const object of api.list(storeKey, namespace)) {
      const { name, uid = '' } = object.metadata;
      if (!isTerminating(object)) api.delete(storeKey, namespace, name, { uid });
    }
    const objects = api.list(storeKey, namespace);
    return objects.length === 0 ? [] : [{ resource, objects }];
  }

  #withConditions(namespace: KubeObject, remaining: readonly Remaining[]): KubeObject {
    const now = this.api.clock.now();
    const before: readonly Condition[] = namespace.status?.conditions ?? [];
    const conditions = deletionConditions(namespace.metadata.name, remaining, now).reduce(
      (all, condition) => withCondition(all, condition, formatTime(now)),
      before,
    );
    const status = { ...namespace.status, conditions };
    return this.api.update('namespaces', { ...namespace, status }, 'status');
  }

  #letGo(namespace: KubeObject): void {
    const finalizers: readonly string[] = namespace.spec?.finalizers ?? [];
    const kept = finalizers.filter((finalizer) => finalizer !== namespaceFinalizer);
    if (kept.length === finalizers.length) return;
    const spec = { ...namespace.spec, finalizers: kept };
    this.api.update('namespaces', { ...namespace, spec }, 'finalize');
  }
}
