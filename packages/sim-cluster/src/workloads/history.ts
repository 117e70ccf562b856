// The ControllerRevisions of DaemonSets and StatefulSets: what `kubectl rollout history` and `undo` go by.
import type { ControllerContext } from '../controllers/controller.ts';
import { controllerOf } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Revision, revisionLabel } from './revisions.ts';
import { ownerReference, type WorkloadKind } from './workload.ts';

const resource = 'controllerrevisions';

/** A stored revision. */
export interface KeptRevision extends Revision {
  /** The name of its object. */
  readonly object: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A DaemonSet's revisions are called by their hash alone; their objects have its name before that. */
export function daemonRevision(set: KubeObject, revision: Revision): KeptRevision {
  const labels = { [revisionLabel]: revision.name };
  return { ...revision, object: `${set.metadata.name}-${revision.name}`, labels };
}

/** A StatefulSet's have its name before their hash, and so have the labels of its pods. */
export function memberRevision(set: KubeObject, revision: Revision): KeptRevision {
  const hash = revision.name.slice(set.metadata.name.length + 1);
  return { ...revision, object: revision.name, labels: { 'controller.kubernetes.io/hash': hash } };
}

/**
 * Writes that the workload's template is of this revision, which comes after all others; and deletes the
 * oldest of those that no pod is of, so far as there are more than revisionHistoryLimit of them.
 */
export function keepHistory(
  { api, lookup }: ControllerContext,
  kind: WorkloadKind,
  workload: KubeObject,
  current: KeptRevision,
  inUse: ReadonlySet<string>,
): void {
  const { namespace = '' } = workload.metadata;
  const owned = lookup.ownedBy(workload, resource);
  const last = Math.max(0, ...owned.map(numberOf));
  const found = owned.find(({ metadata }) => metadata.name === current.object);
  const there = found ?? api.get(resource, namespace, current.object);
  if (!there) api.create(resource, revisionObject(kind, workload, current, last + 1));
  else if (!controllerOf(there)) api.update(resource, adopted(kind, workload, there));
  else if (found && numberOf(found) < last) api.update(resource, { ...found, revision: last + 1 });
  const old = owned
    .filter(({ metadata }) => metadata.name !== current.object && !inUse.has(metadata.name))
    .sort((one, other) => numberOf(one) - numberOf(other));
  const limit: number = workload.spec.revisionHistoryLimit ?? 10;
  for (const { metadata } of old.slice(0, Math.max(0, old.length - limit))) {
    api.delete(resource, namespace, metadata.name, { uid: metadata.uid ?? '' });
  }
}

/** The deletion of another workload of the name has left it. */
function adopted(
  kind: WorkloadKind,
  workload: KubeObject,
  { metadata, ...one }: KubeObject,
): KubeObject {
  const { ownerReferences = [] } = metadata;
  const owners = [...ownerReferences, ownerReference(kind, workload)];
  return { ...one, metadata: { ...metadata, ownerReferences: owners } };
}

function numberOf({ revision }: KubeObject): number {
  return Number(revision ?? 0);
}

function revisionObject(
  kind: WorkloadKind,
  { metadata, ...workload }: KubeObject,
  { object: name, labels, template }: KeptRevision,
  revision: number,
): KubeObject {
  const { namespace = '', annotations } = metadata;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace,
      labels: { ...template.metadata?.labels, ...labels },
      ...(annotations && { annotations }),
      ownerReferences: [ownerReference(kind, { metadata, ...workload })],
    },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision,
  };
}
