import { resources } from '../resources/resources.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { isTerminating } from './pods.ts';

const namespaceFinalizer = 'kubernetes';
const namespacedResources = resources.filter(({ namespaced, view }) => namespaced && !view);

/**
 * Empties a namespace that is being deleted, and lets it go when the last of its contents, pods
 * after their grace period, is gone. Work is keyed by namespace.
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
    if (!namespace || !isTerminating(namespace) || !this.#isEmptied(name)) return;
    const finalizers: readonly string[] = namespace.spec?.finalizers ?? [];
    const kept = finalizers.filter((finalizer) => finalizer !== namespaceFinalizer);
    const spec = { ...namespace.spec, finalizers: kept };
    api.update('namespaces', { ...namespace, spec }, 'finalize');
  }

  /** Deletes what is not on its way out yet; returns whether everything is gone. */
  #isEmptied(namespace: string): boolean {
    const { api } = this;
    for (const { plural } of namespacedResources) {
      for (const object of api.list(plural, namespace)) {
        const { name, uid = '' } = object.metadata;
        if (!isTerminating(object)) api.delete(plural, namespace, name, { uid });
      }
    }
    return namespacedResources.every(({ plural }) => api.list(plural, namespace).length === 0);
  }
}
