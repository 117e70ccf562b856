import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change, StoredKind } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { type Condition, isTerminating, withCondition } from './pods.ts';

// The conditions by which the status of a namespace describes its deletion.

/** Objects of one resource that are still there. */
interface Remaining {
  readonly resource: StoredKind;
  readonly objects: readonly KubeObject[];
}

/** The five conditions, in the words of the real namespace controller. */
function deletionConditions(
  namespace: string,
  remaining: readonly Remaining[],
  now: number,
): readonly Condition[] {
  const overdue = remaining.filter(({ objects }) => objects.every((one) => isOverdue(one, now)));
  const expected = remaining.filter((one) => !overdue.includes(one));
  return [
    no(
      'NamespaceDeletionDiscoveryFailure',
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ),
    no(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    failure(namespace, overdue),
    contents(expected),
    finalizers(expected),
  ];
}

const no = (type: string, reason: string, message: string): Condition => ({
  type,
  status: 'False',
  reason,
  message,
});

/** Nothing holds it and its grace period is over: somebody should have removed it. */
function isOverdue({ metadata }: KubeObject, now: number): boolean {
  const end = Date.parse(metadata.deletionTimestamp ?? '');
  return (metadata.finalizers ?? []).length === 0 && end <= now;
}

function failure(namespace: string, overdue: readonly Remaining[]): Condition {
  const type = 'NamespaceDeletionContentFailure';
  if (overdue.length === 0) {
    const message = 'All content successfully deleted, may be waiting on finalization';
    return no(type, 'ContentDeleted', message);
  }
  const texts = overdue.map(({ resource }) => {
    const { group, version, plural } = resource;
    return `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`;
  });
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const message = `Failed to delete all resource types, ${texts.length} remaining: ${list}`;
  return { type, status: 'True', reason: 'ContentDeletionFailed', message };
}

function contents(remaining: readonly Remaining[]): Condition {
  const type = 'NamespaceContentRemaining';
  if (remaining.length === 0) return no(type, 'ContentRemoved', 'All content successfully removed');
  const counts = remaining.map(({ resource, objects }) => {
    const { group, plural } = resource;
    return `${plural}.${group} has ${objects.length} resource instances`;
  });
  const message = `Some resources are remaining: ${counts.sort().join(', ')}`;
  return { type, status: 'True', reason: 'SomeResourcesRemain', message };
}

function finalizers(remaining: readonly Remaining[]): Condition {
  const type = 'NamespaceFinalizersRemaining';
  const counts = new Map<string, number>();
  const named = remaining.flatMap(({ objects }) =>
    objects.flatMap(({ metadata }) => metadata.finalizers ?? []),
  );
  for (const finalizer of named) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  if (counts.size === 0) {
    return no(type, 'ContentHasNoFinalizers', 'All content-preserving finalizers finished');
  }
  const texts = [...counts].map(
    ([finalizer, count]) => `${finalizer} in ${count} resource instances`,
  );
  const message = `Some content in the namespace has finalizers remaining: ${texts.sort().join(', ')}`;
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message };
}

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
