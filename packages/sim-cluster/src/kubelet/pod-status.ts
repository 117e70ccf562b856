// The status of a pod as its kubelet reports it.
import { type Condition, conditionOf } from '../controllers/pods.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';

/** The kubelet's knowledge of a pod that it has started. */
export interface StartedPod {
  readonly podIp: string;
  readonly containerIds: readonly string[];
  /** In the format of the field. */
  readonly startedAt: string;
  /** The unwritten part of a pod's acceptance by its node; null: it is written. */
  readonly accepted: { readonly hostIp: string; readonly at: string } | null;
}

/** The end of a pod's containers. */
export interface PodEnd {
  readonly exitCode: number;
  /** In the format of the field. */
  readonly finishedAt: string;
}

interface Container {
  readonly name: string;
  readonly image?: string;
}

interface ContainerStatus {
  readonly containerID?: string;
  readonly state?: { readonly running?: { readonly startedAt?: string } };
  readonly [field: string]: Json | undefined;
}

/** `why` is the reason of conditions that are False. */
type ReadyConditions = readonly (readonly [type: string, isTrue: boolean, why?: string])[];

const creatingConditions: ReadyConditions = [
  ['PodReadyToStartContainers', false],
  ['Initialized', true],
  ['Ready', false, 'ContainersNotReady'],
  ['ContainersReady', false, 'ContainersNotReady'],
];
const runningConditions: ReadyConditions = [
  ['PodReadyToStartContainers', true],
  ['Initialized', true],
  ['Ready', true],
  ['ContainersReady', true],
];
const succeededConditions: ReadyConditions = [
  ['PodReadyToStartContainers', false],
  ['Initialized', true, 'PodCompleted'],
  ['Ready', false, 'PodCompleted'],
  ['ContainersReady', false, 'PodCompleted'],
];
const failedConditions: ReadyConditions = [
  ['PodReadyToStartContainers', false],
  ['Initialized', true],
  ['Ready', false, 'PodFailed'],
  ['ContainersReady', false, 'PodFailed'],
];

/** The status of a pod that the kubelet has accepted and whose containers are being made. */
export function creatingStatus(pod: KubeObject, hostIp: string, now: string): unknown {
  return {
    ...pod.status,
    observedGeneration: pod.metadata.generation,
    phase: 'Pending',
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    startTime: pod.status?.startTime ?? now,
    conditions: withReadiness(pod, creatingConditions, now),
    containerStatuses: containers(pod).map(({ name, image }) => ({
      name,
      image: image ?? '',
      imageID: '',
      lastState: {},
      ready: false,
      restartCount: 0,
      started: false,
      state: { waiting: { reason: 'ContainerCreating' } },
    })),
  };
}

const unreadyConditions: ReadyConditions = [
  ['PodReadyToStartContainers', true],
  ['Initialized', true],
  ['Ready', false, 'ContainersNotReady'],
  ['ContainersReady', false, 'ContainersNotReady'],
];

/** The status of a pod all of whose containers run, and are ready or not. */
export function runningStatus(
  pod: KubeObject,
  started: StartedPod,
  now: string,
  ready = true,
): unknown {
  const conditions = ready ? runningConditions : unreadyConditions;
  return {
    ...pod.status,
    observedGeneration: pod.metadata.generation,
    phase: 'Running',
    ...acceptedFields(pod, started),
    podIP: started.podIp,
    podIPs: [{ ip: started.podIp }],
    conditions: withReadiness(pod, conditions, now, started.accepted?.at),
    containerStatuses: containers(pod).map(({ name, image }, index) => ({
      name,
      image: image ?? '',
      imageID: image ?? '',
      containerID: `containerd://${started.containerIds[index]}`,
      lastState: {},
      ready,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: started.startedAt } },
    })),
  };
}

function acceptedFields(pod: KubeObject, { accepted }: StartedPod): object {
  if (!accepted) return {};
  const { hostIp, at } = accepted;
  return { hostIP: hostIp, hostIPs: [{ ip: hostIp }], startTime: pod.status?.startTime ?? at };
}

/**
 * True if a pod runs and its kubelet has said that not all of its containers are ready, as for a
 * crash loop. A controller that marks the pods of a silent node changes Ready alone.
 */
export function hasUnreadyContainers(pod: KubeObject): boolean {
  if (pod.status?.phase !== 'Running') return false;
  const statuses: readonly ContainerStatus[] = pod.status.containerStatuses ?? [];
  const isUnready = conditionOf(pod, 'ContainersReady')?.status === 'False';
  return isUnready || statuses.some(({ ready }) => ready === false);
}

/** The last status of a pod: Succeeded when its containers exited with 0, Failed otherwise. */
export function endedStatus(pod: KubeObject, end: PodEnd, now: string): unknown {
  const succeeded = end.exitCode === 0;
  const statuses: readonly ContainerStatus[] = pod.status?.containerStatuses ?? [];
  return {
    ...pod.status,
    observedGeneration: pod.metadata.generation,
    phase: succeeded ? 'Succeeded' : 'Failed',
    conditions: withReadiness(pod, succeeded ? succeededConditions : failedConditions, now),
    containerStatuses: statuses.map((status) => ({
      ...status,
      ready: false,
      started: false,
      state: {
        terminated: {
          exitCode: end.exitCode,
          reason: succeeded ? 'Completed' : 'Error',
          startedAt: status.state?.running?.startedAt ?? end.finishedAt,
          finishedAt: end.finishedAt,
          containerID: status.containerID ?? '',
        },
      },
    })),
  };
}

function containers(pod: KubeObject): readonly Container[] {
  return pod.spec.containers ?? [];
}

/** Sets the kubelet's own conditions and leaves those of others (DisruptionTarget) alone. */
function withReadiness(
  pod: KubeObject,
  readiness: ReadyConditions,
  now: string,
  /** When the kubelet accepted it, where that was not written then. */
  acceptedAt = now,
): readonly Condition[] {
  const conditions: Condition[] = [...(pod.status?.conditions ?? [])];
  const observedGeneration = pod.metadata.generation;
  // A pod that was loaded without PodScheduled was bound before it started.
  const since: Readonly<Record<string, string>> = {
    PodScheduled: pod.status?.startTime ?? now,
    Initialized: acceptedAt,
  };
  for (const [type, isTrue, why] of [...readiness, ['PodScheduled', true] as const]) {
    const status = isTrue ? 'True' : 'False';
    const reason = why ? { reason: why } : {};
    const message =
      why === 'ContainersNotReady' ? { message: unreadyContainers(containers(pod)) } : {};
    const condition = { type, status, observedGeneration, ...reason, ...message };
    setCondition(conditions, condition, since[type] ?? now);
  }
  return conditions;
}

/** Puts it in the place of the one of its type, whose lastTransitionTime stays as long as the status. */
function setCondition(conditions: Condition[], condition: Condition, now: string): void {
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[at];
  const same = old?.status === condition.status ? old.lastTransitionTime : undefined;
  const next = { ...condition, lastTransitionTime: same ?? now };
  if (old) conditions[at] = next;
  else conditions.push(next);
}

function unreadyContainers(list: readonly Container[]): string {
  return `containers with unready status: [${list.map(({ name }) => name).join(' ')}]`;
}
