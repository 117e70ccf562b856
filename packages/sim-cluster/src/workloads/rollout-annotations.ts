// The annotations by which `kubectl rollout history`, `undo` and `status --revision` go for Deployments.

import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { WorkloadContext } from './workload.ts';

/** kubectl's own note on what it applies. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const prefix = 'deployment.kubernetes.io/';
const revisionKey = `${prefix}revision`;
/** The revisions that a ReplicaSet had before, where its template came back: `1,4`. */
const pastKey = `${prefix}revision-history`;

type Annotations = Readonly<Record<string, string>>;

/** The revision of a ReplicaSet; 0: it has none. */
export function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[revisionKey] ?? 0);
}

const nextAfter = (sets: readonly KubeObject[]): number => Math.max(0, ...sets.map(revisionOf)) + 1;

/** The annotations of a new ReplicaSet, whose revision comes after all others. */
export function firstAnnotations(
  { keepsHistory }: WorkloadContext,
  deployment: KubeObject,
  others: readonly KubeObject[],
): Annotations {
  const copied = keepsHistory ? copiedAnnotations(deployment) : {};
  return { ...copied, [revisionKey]: String(nextAfter(others)) };
}

/** The ReplicaSet of the template, written with a revision that comes after all others. */
export function noteRevision(
  context: WorkloadContext,
  deployment: KubeObject,
  found: KubeObject,
  others: readonly KubeObject[],
): KubeObject {
  const [before, next] = [revisionOf(found), nextAfter(others)];
  const kept: Annotations = found.metadata.annotations ?? {};
  const revision = { [revisionKey]: String(Math.max(before, next)) };
  if (!context.keepsHistory) {
    const isNoted = next === 1 || before >= next;
    return isNoted ? found : annotate(context, 'replicasets', found, { ...kept, ...revision });
  }
  const past = kept[pastKey] ? `${kept[pastKey]},${before}` : String(before);
  return annotate(context, 'replicasets', found, {
    ...kept,
    ...copiedAnnotations(deployment),
    ...revision,
    ...(before > 0 && before < next ? { [pastKey]: past } : {}),
  });
}

/** The Deployment, written with the revision of its ReplicaSet in a cluster where somebody may read it. */
export function withRevisionOf(
  context: WorkloadContext,
  deployment: KubeObject,
  current: KubeObject,
): KubeObject {
  if (!context.keepsHistory) return deployment;
  const { annotations } = deployment.metadata;
  const revision = { [revisionKey]: String(revisionOf(current)) };
  return annotate(context, 'deployments', deployment, { ...annotations, ...revision });
}

/** What a ReplicaSet takes over from its Deployment, its change cause above all. */
function copiedAnnotations({ metadata }: KubeObject): Annotations {
  const given: Annotations = metadata.annotations ?? {};
  const isOwn = (key: string): boolean => key.startsWith(prefix) || key === lastApplied;
  return Object.fromEntries(Object.entries(given).filter(([key]) => !isOwn(key)));
}

function annotate(
  { api }: WorkloadContext,
  resource: string,
  object: KubeObject,
  annotations: Annotations,
): KubeObject {
  if (equal(object.metadata.annotations ?? {}, annotations)) return object;
  return api.update(resource, { ...object, metadata: { ...object.metadata, annotations } });
}
