// Keeps the pods of a ReplicaSet.
import {
  conditionOf,
  controllerOf,
  isActive,
  isReady,
  isTerminating,
} from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { availabilityOf } from './availability.ts';
import {
  createPod,
  deletePod,
  isClosing,
  podsPerSyncMax,
  setStatus,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

/**
 * Keeps the pods of a ReplicaSet, with generated names; pods that end or are deleted are replaced at once.
 * The status that it writes is that of the pods which it has found, before it makes or deletes any, as in
 * kube-controller-manager: the pods themselves lead to the next look.
 */
export const replicaSetKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  creates: 'pods',
  sync: syncReplicaSet,
};

function syncReplicaSet(context: WorkloadContext, set: KubeObject): void {
  const { api, lookup } = context;
  const { active, ready, terminating } = lookup.replicasOf(set);
  const available = availableOf(context, set, ready);
  const missing: number = (set.spec.replicas ?? 1) - active;
  const isAble = !isTerminating(set) && (missing < 0 || !isClosing(api, set));
  if (isAble && missing !== 0) setPods(context, set, missing);
  setStatus(api, replicaSetKind, set, {
    observedGeneration: set.metadata.generation,
    replicas: active,
    fullyLabeledReplicas: active,
    readyReplicas: ready,
    availableReplicas: available,
    terminatingReplicas: terminating,
  });
}

function availableOf(context: WorkloadContext, set: KubeObject, ready: number): number {
  const { api, lookup } = context;
  const minReadySeconds: number = set.spec.minReadySeconds ?? 0;
  if (minReadySeconds === 0 || ready === 0) return ready;
  const pods = lookup.ownedBy(set, 'pods').filter(isActive);
  const { available, nextMs } = availabilityOf(pods, minReadySeconds, api.clock.now());
  if (nextMs !== null) context.again(nextMs);
  return available;
}

/** Makes missing pods, or deletes surplus ones. */
function setPods(context: WorkloadContext, set: KubeObject, missing: number): void {
  const { api, lookup } = context;
  const created = Math.min(missing, podsPerSyncMax);
  for (let count = 0; count < created; count++) createPod(api, replicaSetKind, set, {});
  if (missing >= 0) return;
  const pods = lookup.ownedBy(set, 'pods').filter(isActive);
  for (const pod of inOrderOfRemoval(context, set, pods).slice(0, -missing)) deletePod(api, pod);
}

const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost';
const phases = ['Pending', 'Unknown', 'Running'];

/** By which pods are compared, the smaller ones first. */
type Rank = (pod: KubeObject) => number;

/**
 * The pods that are missed least come first, by the rules of kube-controller-manager: unbound,
 * pending, not ready, cheap to delete, one of many on its node, ready or there for a shorter time
 * (by powers of two), restarted more often. Equal pods come in the order of their creation; in the
 * real controller they come in the order of their uids, which is random.
 */
function inOrderOfRemoval(
  { api, lookup }: WorkloadContext,
  set: KubeObject,
  pods: readonly KubeObject[],
): readonly KubeObject[] {
  const now = api.clock.now();
  const owner = controllerOf(set);
  const deployment = owner && api.get('deployments', set.metadata.namespace ?? '', owner.name);
  const related = deployment ? lookup.ownedBy(deployment, 'replicasets') : [set];
  const onNode = new Map<string, number>();
  for (const one of related.flatMap((other) => lookup.ownedBy(other, 'pods'))) {
    const node: string = one.spec.nodeName ?? '';
    if (isActive(one)) onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const ranks: readonly Rank[] = [
    ({ spec }) => (spec.nodeName ? 1 : 0),
    ({ status }) => phases.indexOf(status?.phase ?? 'Pending'),
    (pod) => (isReady(pod) ? 1 : 0),
    ({ metadata }) => Number(metadata.annotations?.[deletionCostKey] ?? 0) || 0,
    ({ spec }) => -(onNode.get(spec.nodeName ?? '') ?? 0),
    (pod) => (isReady(pod) ? ageRank(conditionOf(pod, 'Ready')?.lastTransitionTime, now) : 0),
    (pod) => -restartsOf(pod),
    ({ metadata }) => ageRank(metadata.creationTimestamp, now),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: ranks.map((rank) => rank(pod)) }));
  return ranked.sort((one, other) => compare(one.rank, other.rank)).map(({ pod }) => pod);
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, rank] of one.entries()) {
    const difference = rank - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Nanoseconds by powers of two, as the real one counts them. */
function ageRank(since: string | undefined, nowMs: number): number {
  const age = 1e6 * (nowMs - Date.parse(since ?? ''));
  return age > 0 ? Math.floor(Math.log2(age)) : -1;
}

function restartsOf({ status }: KubeObject): number {
  const statuses: readonly { readonly restartCount?: number }[] = status?.containerStatuses ?? [];
  return Math.max(0, ...statuses.map(({ restartCount = 0 }) => restartCount));
}
