// Keeps the pods of a StatefulSet, one after another and by number.
import type { ControllerContext } from '../controllers/controller.ts';
import { isReady, isTerminal, isTerminating } from '../controllers/pods.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { createPod, deletePod, setStatus, templateHash, type WorkloadKind } from './workload.ts';

const revisionLabel = 'controller-revision-hash';

interface VolumeOfPod {
  readonly name: string;
  readonly [field: string]: Json;
}

/**
 * Keeps pods NAME-0 to NAME-(replicas - 1). In order, unless podManagementPolicy is Parallel: a pod
 * waits until all before it are ready, and one step is taken at a time. A name is used again only
 * when its last holder is gone, so a pod that cannot end (its kubelet has stopped) is not replaced.
 */
export const statefulSetKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  creates: 'pods',
  sync: syncStatefulSet,
};

function syncStatefulSet(context: ControllerContext, set: KubeObject): void {
  const pods = new Map(
    context.lookup.ownedBy(set, 'pods').map((pod) => [pod.metadata.name, pod] as const),
  );
  const revision = revisionOf(set);
  reportStatus(context, set, [...pods.values()], revision);
  const replicas: number = set.spec.replicas ?? 1;
  const names = Array.from({ length: replicas }, (_, index) => `${set.metadata.name}-${index}`);
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  let areAllReady = true;
  for (const [index, name] of names.entries()) {
    const pod = pods.get(name);
    if (!pod) createMember(context, set, index, revision);
    else if (isTerminal(pod) && !isTerminating(pod)) deletePod(context.api, pod);
    if (pod && isReady(pod) && !isTerminating(pod)) continue;
    areAllReady = false;
    if (!isParallel) return;
  }
  const surplus = [...pods.values()].filter((pod) => !names.includes(pod.metadata.name));
  if (surplus.length > 0) removeLast(context, surplus);
  else if (areAllReady) replaceOutdated(context, names, pods, revision);
}

/** What the status says while nothing has changed: another cluster names its revisions otherwise. */
function revisionOf({ metadata, spec, status }: KubeObject): string {
  const isObserved = status?.observedGeneration === metadata.generation;
  if (isObserved && status?.updateRevision) return status.updateRevision;
  return `${metadata.name}-${templateHash(spec.template)}`;
}

function createMember(
  { api }: ControllerContext,
  set: KubeObject,
  index: number,
  revision: string,
): void {
  const name = `${set.metadata.name}-${index}`;
  createPod(api, statefulSetKind, set, {
    name,
    labels: {
      'apps.kubernetes.io/pod-index': String(index),
      [revisionLabel]: revision,
      'statefulset.kubernetes.io/pod-name': name,
    },
    spec: {
      hostname: name,
      subdomain: set.spec.serviceName ?? '',
      ...volumesFor(api, set, name),
    },
  });
}

/** The pod's own claims, which stay when it goes, and the volumes by which it has them. */
function volumesFor(
  api: ControllerContext['api'],
  set: KubeObject,
  podName: string,
): { readonly volumes?: readonly VolumeOfPod[] } {
  const templates: readonly KubeObject[] = set.spec.volumeClaimTemplates ?? [];
  if (templates.length === 0) return {};
  const { namespace = '' } = set.metadata;
  const claims = templates.map(({ metadata, spec }): VolumeOfPod => {
    const claimName = `${metadata.name}-${podName}`;
    if (!api.get('persistentvolumeclaims', namespace, claimName)) {
      const labels = { ...metadata.labels, ...set.spec.selector?.matchLabels };
      api.create('persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claimName, namespace, labels },
        spec,
      });
    }
    return { name: metadata.name, persistentVolumeClaim: { claimName } };
  });
  const others: readonly VolumeOfPod[] = set.spec.template.spec?.volumes ?? [];
  const names = new Set(claims.map(({ name }) => name));
  return { volumes: [...others.filter(({ name }) => !names.has(name)), ...claims] };
}

/** Scales down by one, the highest number first; the next step waits until that pod is gone. */
function removeLast({ api }: ControllerContext, surplus: readonly KubeObject[]): void {
  if (surplus.some(isTerminating)) return;
  const [last] = [...surplus].sort((a, b) => ordinal(b) - ordinal(a));
  if (last) deletePod(api, last);
}

function ordinal(pod: KubeObject): number {
  const { name } = pod.metadata;
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** Rolls a new template out from the highest number down, one ready pod at a time. */
function replaceOutdated(
  { api }: ControllerContext,
  names: readonly string[],
  pods: ReadonlyMap<string, KubeObject>,
  revision: string,
): void {
  const outdated = [...names]
    .reverse()
    .find((name) => pods.get(name)?.metadata.labels?.[revisionLabel] !== revision);
  const pod = outdated === undefined ? undefined : pods.get(outdated);
  if (pod) deletePod(api, pod);
}

function reportStatus(
  context: ControllerContext,
  set: KubeObject,
  pods: readonly KubeObject[],
  revision: string,
): void {
  const ready = pods.filter((pod) => isReady(pod) && !isTerminating(pod)).length;
  const updated = pods.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision).length;
  const isRolledOut = updated === pods.length;
  const oldRevision: string = set.status?.currentRevision || revision;
  setStatus(context.api, statefulSetKind, set, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: isRolledOut ? updated : pods.length - updated,
    updatedReplicas: updated,
    currentRevision: isRolledOut ? revision : oldRevision,
    updateRevision: revision,
    collisionCount: 0,
  });
}
