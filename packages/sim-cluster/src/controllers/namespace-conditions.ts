// What the status of a namespace says about its deletion.
import type { KubeObject } from '../objects/kube-object.ts';
import type { StoredKind } from '../store/cluster-api.ts';
import type { Condition } from './pods.ts';

/** Objects of one resource that are still there. */
export interface Remaining {
  readonly resource: StoredKind;
  readonly objects: readonly KubeObject[];
}

/** The five conditions, in the words of the real namespace controller. */
export function deletionConditions(
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
