import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change, StoredKind } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { type Condition, isTerminal, isTerminating, keyOf, withCondition } from './pods.ts';

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

/**
 * True for an object without finalizers whose grace period is over, which should be gone already.
 */
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
/** The time that it takes to go through the objects of all other kinds when no pods are left. */
const othersMs = 400;
/** The prefix of keys for the look at everything but pods. */
const others = 'others of ';
/** Pods are deleted one after another, at this distance. */
const podMs = 20;
/** The time that contents with finalizers are assumed to need. */
const finalizersSeconds = 15;

/**
 * Empties a namespace that is being deleted, pods first, and removes it when the last of its
 * contents, pods after their grace period, is gone. The controller looks again as
 * kube-controller-manager does: a while after its own status has changed, otherwise after half of
 * the time that the contents are assumed to need. Work is keyed by namespace, or by a pod to
 * delete.
 */
export class Namespaces extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return new Set(['namespaces']);
  }

  protected override begin(): void {
    for (const { metadata } of this.api.list('namespaces')) {
      const deletedAt = Date.parse(metadata.deletionTimestamp ?? '');
      if (Number.isNaN(deletedAt)) continue;
      const leftMs = deletedAt + delayMs - this.api.clock.now();
      this.queue.addAfter(metadata.name, Math.min(delayMs, Math.max(0, leftMs)));
    }
  }

  protected override notice({ type, object, previous }: Change): void {
    const isNew = isTerminating(object) && !(previous && isTerminating(previous));
    if (isNew && type !== 'DELETED') this.queue.addAfter(object.metadata.name, delayMs);
  }

  protected override sync(key: string): void {
    const { api } = this;
    const pod = key.includes('/') ? api.find('pods', key) : null;
    if (pod) this.#delete('pods', pod);
    const isSecond = key.startsWith(others);
    const name = isSecond ? key.slice(others.length) : key;
    const namespace = api.get('namespaces', '', name);
    if (!namespace || !isTerminating(namespace)) return;
    if ((namespace.spec?.finalizers ?? []).length === 0) return;
    const kinds = api.stored().filter(({ namespaced }) => namespaced);
    const isPods = ({ storeKey }: StoredKind): boolean => storeKey === 'pods';
    const pods = kinds.filter(isPods).flatMap((kind) => this.#emptyOf(kind, name));
    if (pods.length > 0) this.#await(namespace, pods);
    else if (isSecond) this.#emptyOthers(namespace, kinds);
    else this.queue.addAfter(`${others}${name}`, othersMs);
  }

  #emptyOthers(namespace: KubeObject, kinds: readonly StoredKind[]): void {
    const { name } = namespace.metadata;
    const remaining = kinds.flatMap((kind) => this.#emptyOf(kind, name));
    if (remaining.length > 0) this.#await(namespace, remaining);
    else this.#letGo(this.#withConditions(namespace, remaining));
  }

  /** Looks again after a while, and sooner where its status has changed. */
  #await(namespace: KubeObject, remaining: readonly Remaining[]): void {
    const current = this.#withConditions(namespace, remaining);
    const deletedAt = Date.parse(namespace.metadata.deletionTimestamp ?? '');
    const seconds = secondsLeft(remaining, this.api.clock.now() - deletedAt);
    const waitMs = 1000 * (Math.floor(seconds / 2) + 1);
    const again = current === namespace ? waitMs : Math.min(waitMs, delayMs);
    this.queue.addAfter(namespace.metadata.name, again);
  }

  #emptyOf(resource: StoredKind, namespace: string): readonly Remaining[] {
    const { api } = this;
    const { storeKey } = resource;
    const staying = api.list(storeKey, namespace).filter((object) => !isTerminating(object));
    for (const [index, object] of staying.entries()) {
      if (storeKey !== 'pods' || index === 0) this.#delete(storeKey, object);
      else this.queue.addAfter(keyOf(object), index * podMs);
    }
    const objects = api.list(storeKey, namespace);
    return objects.length === 0 ? [] : [{ resource, objects }];
  }

  #delete(storeKey: string, object: KubeObject): void {
    const { name, namespace = '', uid = '' } = object.metadata;
    if (!isTerminating(object)) this.api.delete(storeKey, namespace, name, { uid });
  }

  #withConditions(namespace: KubeObject, remaining: readonly Remaining[]): KubeObject {
    const now = this.api.clock.now();
    const before: readonly Condition[] = namespace.status?.conditions ?? [];
    const conditions = deletionConditions(namespace.metadata.name, remaining, now).reduce(
      (all, condition) => withCondition(all, condition, formatTime(now)),
      before,
    );
    if (equal(conditions, before)) return namespace;
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

/**
 * The time that the contents are assumed to need: pods their grace period, otherwise objects with
 * finalizers a fixed time.
 */
function secondsLeft(remaining: readonly Remaining[], sinceMs: number): number {
  let grace = 0;
  let isHeld = false;
  for (const { resource, objects } of remaining) {
    for (const object of objects) {
      const isRunning = resource.storeKey === 'pods' && !isTerminal(object);
      if (isRunning) grace = Math.max(grace, object.spec.terminationGracePeriodSeconds ?? 30);
      isHeld ||= (object.metadata.finalizers ?? []).length > 0;
    }
  }
  if (grace > 0 && sinceMs < 1000 * grace) return grace;
  return isHeld ? finalizersSeconds : 0;
}
