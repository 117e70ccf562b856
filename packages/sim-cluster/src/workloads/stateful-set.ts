// Keeps the pods of a StatefulSet, one after another and by number.
import type { ControllerContext } from '../controllers/controller.ts';
import { isReady, isTerminal, isTerminating } from '../controllers/pods.ts';
import type { Json, KubeObject, ObjectMeta } from '../objects/kube-object.ts';
import { availabilityOf, untilAvailable } from './availability.ts';
import { keepHistory, memberRevision } from './history.ts';
import { type Revision, revisionLabel } from './revisions.ts';
import {
  createPod,
  deletePod,
  isClosing,
  podsPerSyncMax,
  setStatus,
  templateHash,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

interface VolumeOfPod {
  readonly name: string;
  readonly [field: string]: Json;
}

/**
 * The revisions to make pods from: the current one is for pods that a rolling update does not
 * reach.
 */
interface Plan {
  readonly current: Revision;
  readonly update: Revision;
  /** Pods with lower numbers stay as they are, and come back so. */
  readonly updatesFrom: number;
  /**
   * True if outdated pods are replaced; otherwise they are replaced only after they are deleted.
   */
  readonly rolls: boolean;
}

/**
 * Keeps as many pods as there are replicas, numbered from 0 or what spec.ordinals says. In order,
 * unless podManagementPolicy is Parallel: a pod waits until all before it are available, and one step is
 * taken at a time. A name is used again only when its last holder is gone, so a pod that cannot end
 * (its kubelet has stopped, or a finalizer keeps it) is not replaced. The status that it writes is that of
 * the pods which it has found, before it makes or deletes any.
 */
export const statefulSetKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  creates: 'pods',
  fits: (set, pod) => pod.metadata.name === memberName(set, ordinal(pod)),
  sync: syncStatefulSet,
};

function syncStatefulSet(context: WorkloadContext, set: KubeObject): void {
  const pods = context.lookup.ownedBy(set, 'pods');
  const plan = planOf(context, set, pods);
  const found = countsOf(context, set, pods, plan);
  if (!isTerminating(set)) {
    if (context.keepsHistory) keepRevisions(context, set, pods, plan);
    const replaced = step(context, set, pods, plan);
    if (replaced?.metadata.labels?.[revisionLabel] === found.currentRevision) {
      found.currentReplicas--;
    }
  }
  setStatus(context.api, statefulSetKind, set, { ...found });
}

/** True if a pod of the set is available: ready for the required time, and not terminating. */
function isAvailable({ api }: ControllerContext, set: KubeObject, pod: KubeObject): boolean {
  const minReadySeconds: number = set.spec.minReadySeconds ?? 0;
  return !isTerminating(pod) && untilAvailable(pod, minReadySeconds, api.clock.now()) === 0;
}

/** Returns the pod that is replaced by one of another revision, if any. */
function step(
  context: WorkloadContext,
  set: KubeObject,
  pods: readonly KubeObject[],
  plan: Plan,
): KubeObject | null {
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const replicas: number = set.spec.replicas ?? 1;
  const first = firstOrdinal(set);
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  // An upper bound for the number of pods after this sync: missing pods below it are enough work.
  const length = Math.min(replicas, byName.size + podsPerSyncMax);
  for (let member = first; member < first + length; member++) {
    const pod = byName.get(memberName(set, member));
    if (!pod) {
      if (isClosing(context.api, set)) return null;
      createMember(context, set, member, plan);
    } else if (isTerminal(pod) && !isTerminating(pod)) deletePod(context.api, pod);
    if (!isParallel && !(pod && isAvailable(context, set, pod))) return null;
  }
  const isMember = (number: number): boolean => number >= first && number < first + replicas;
  const surplus = pods.filter((pod) => !isMember(ordinal(pod)));
  if (surplus.length > 0) {
    removeSurplus(context, set, surplus, isParallel);
    if (!isParallel) return null;
  }
  return plan.rolls ? replaceOutdated(context, set, byName, plan) : null;
}

function keepRevisions(
  context: WorkloadContext,
  set: KubeObject,
  pods: readonly KubeObject[],
  { current, update }: Plan,
): void {
  const inUse = pods.map(({ metadata }) => metadata.labels?.[revisionLabel] ?? '');
  const names = new Set([current.name, ...inUse]);
  keepHistory(context, statefulSetKind, set, memberRevision(set, update), names);
}

function firstOrdinal({ spec }: KubeObject): number {
  return spec.ordinals?.start ?? 0;
}

function memberName({ metadata }: KubeObject, member: number): string {
  return `${metadata.name}-${member}`;
}

/** The revision is what the status says while nothing has changed. */
function planOf(context: WorkloadContext, set: KubeObject, pods: readonly KubeObject[]): Plan {
  const { metadata, spec, status } = set;
  const isObserved = status?.observedGeneration === metadata.generation;
  const reported: string | undefined = isObserved ? status?.updateRevision : undefined;
  const newName = `${metadata.name}-${templateHash(spec.template)}`;
  const update = context.revisions.ofTemplate(set, reported, newName);
  const old: string = status?.currentRevision || update.name;
  const current = old === update.name ? null : context.revisions.named(context, set, old, pods);
  const rolls = spec.updateStrategy?.type !== 'OnDelete';
  const partition: number = rolls ? (spec.updateStrategy?.rollingUpdate?.partition ?? 0) : 0;
  return { current: current ?? update, update, updatesFrom: firstOrdinal(set) + partition, rolls };
}

function createMember(
  { api }: ControllerContext,
  given: KubeObject,
  member: number,
  { current, update, updatesFrom }: Plan,
): void {
  const revision = member < updatesFrom ? current : update;
  const set = { ...given, spec: { ...given.spec, template: revision.template } };
  const name = memberName(set, member);
  createPod(api, statefulSetKind, set, {
    name,
    labels: {
      'apps.kubernetes.io/pod-index': String(member),
      [revisionLabel]: revision.name,
      'statefulset.kubernetes.io/pod-name': name,
    },
    spec: {
      hostname: name,
      subdomain: set.spec.serviceName ?? '',
      ...volumesFor(api, set, name),
    },
  });
}

/** A template is accepted without a name, as by the real server; the claim needs a valid name. */
interface ClaimTemplate {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Json;
}

/** The pod's own claims, which stay when it goes, and the volumes by which it has them. */
function volumesFor(
  api: ControllerContext['api'],
  set: KubeObject,
  podName: string,
): { readonly volumes?: readonly VolumeOfPod[] } {
  const templates: readonly ClaimTemplate[] = set.spec.volumeClaimTemplates ?? [];
  if (templates.length === 0) return {};
  const { namespace = '' } = set.metadata;
  const claims = templates.map(({ metadata, spec }): VolumeOfPod => {
    const { name = '', labels: own } = metadata ?? {};
    const claimName = `${name}-${podName}`;
    if (!api.get('persistentvolumeclaims', namespace, claimName)) {
      const labels = { ...own, ...set.spec.selector?.matchLabels };
      api.create('persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claimName, namespace, labels },
        spec,
      });
    }
    return { name, persistentVolumeClaim: { claimName } };
  });
  const others: readonly VolumeOfPod[] = set.spec.template.spec?.volumes ?? [];
  const names = new Set(claims.map(({ name }) => name));
  return { volumes: [...others.filter(({ name }) => !names.has(name)), ...claims] };
}

/**
 * Scales down, the highest number first; in order the next step waits until that pod is gone, and one that
 * is not available waits for those before it.
 */
function removeSurplus(
  context: WorkloadContext,
  set: KubeObject,
  surplus: readonly KubeObject[],
  isParallel: boolean,
): void {
  const { api } = context;
  const downwards = [...surplus].sort((a, b) => ordinal(b) - ordinal(a));
  if (isParallel) {
    for (const pod of downwards) if (!isTerminating(pod)) deletePod(api, pod);
    return;
  }
  const [last] = downwards;
  const firstIll = downwards.findLast((pod) => !isAvailable(context, set, pod));
  if (!last || isTerminating(last)) return;
  if (isAvailable(context, set, last) || last === firstIll) deletePod(api, last);
}

function ordinal(pod: KubeObject): number {
  const { name } = pod.metadata;
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** Rolls a new template out from the highest number down, one available pod at a time. */
function replaceOutdated(
  context: WorkloadContext,
  set: KubeObject,
  byName: ReadonlyMap<string, KubeObject>,
  { update, updatesFrom }: Plan,
): KubeObject | null {
  const last = firstOrdinal(set) + (set.spec.replicas ?? 1) - 1;
  for (let member = last; member >= updatesFrom; member--) {
    const pod = byName.get(memberName(set, member));
    if (pod && !isOf(update, pod) && !isTerminating(pod)) {
      deletePod(context.api, pod);
      return pod;
    }
    if (!pod || !isAvailable(context, set, pod)) return null;
  }
  return null;
}

function isOf({ name }: Revision, pod: KubeObject): boolean {
  return pod.metadata.labels?.[revisionLabel] === name;
}

/**
 * The counts in the status; terminating pods count as ready while they are, and for no revision.
 */
function countsOf(
  context: WorkloadContext,
  set: KubeObject,
  pods: readonly KubeObject[],
  { update, rolls }: Plan,
) {
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod));
  const staying = pods.filter((pod) => !isTerminating(pod));
  const updated = staying.filter((pod) => isOf(update, pod)).length;
  const current: string = set.status?.currentRevision || update.name;
  const isAll = (count: number): boolean => count === (set.spec.replicas ?? 1);
  const isRolledOut = rolls && [pods.length, ready.length, updated].every(isAll);
  const old = staying.filter((pod) => pod.metadata.labels?.[revisionLabel] === current).length;
  return {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: availableOf(context, set, ready),
    currentReplicas: isRolledOut ? updated : old,
    updatedReplicas: updated,
    currentRevision: isRolledOut ? update.name : current,
    updateRevision: update.name,
    collisionCount: 0,
  };
}

function availableOf(
  context: WorkloadContext,
  set: KubeObject,
  ready: readonly KubeObject[],
): number {
  const minReadySeconds: number = set.spec.minReadySeconds ?? 0;
  if (minReadySeconds === 0) return ready.length;
  const { available, nextMs } = availabilityOf(ready, minReadySeconds, context.api.clock.now());
  if (nextMs !== null) context.again(nextMs);
  return available;
}
