// The table columns of pods.
import type { KubeObject, Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, nameColumn, orNone, wide } from './columns.ts';
import { humanDuration } from './duration.ts';

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string };
  readonly running?: Readonly<Record<string, unknown>>;
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode?: number;
    readonly signal?: number;
    readonly finishedAt?: string;
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

const conditionsOf = (pod: KubeObject): readonly Condition[] => pod.status?.conditions ?? [];
const statusesOf = (pod: KubeObject, member: string): readonly ContainerStatus[] =>
  pod.status?.[member] ?? [];

function terminatedReason(terminated: NonNullable<ContainerState['terminated']>): string {
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`;
}

/** The reason an init container that is not done gives the whole pod, or null. */
function initReason(pod: KubeObject): string | null {
  const statuses = statusesOf(pod, 'initContainerStatuses');
  const total: number = (pod.spec.initContainers ?? []).length;
  for (const [index, { state }] of statuses.entries()) {
    if (state?.terminated && (state.terminated.exitCode ?? 0) === 0) continue;
    if (state?.terminated) return `Init:${terminatedReason(state.terminated)}`;
    const waiting = state?.waiting?.reason;
    if (waiting && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${total}`;
  }
  return null;
}

/** The STATUS column: the most telling reason of the pod and its containers. */
function statusOf(pod: KubeObject): string {
  let reason: string = pod.status?.reason || (pod.status?.phase ?? '');
  const gated = conditionsOf(pod).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (gated) reason = 'SchedulingGated';
  const initializing = initReason(pod);
  if (initializing) reason = initializing;
  else reason = containerReason(pod, reason);
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    ? reason
    : 'Terminating';
}

function containerReason(pod: KubeObject, start: string): string {
  let reason = start;
  let running = false;
  for (const { state, ready } of [...statusesOf(pod, 'containerStatuses')].reverse()) {
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated) reason = terminatedReason(state.terminated);
    else if (ready && state?.running) running = true;
  }
  if (reason !== 'Completed' || !running) return reason;
  const ready = conditionsOf(pod).some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready ? 'Running' : 'NotReady';
}

function restartsOf(pod: KubeObject, now: number): string {
  let restarts = 0;
  let last = 0;
  for (const { restartCount, lastState } of statusesOf(pod, 'containerStatuses')) {
    restarts += restartCount ?? 0;
    last = Math.max(last, Date.parse(lastState?.terminated?.finishedAt ?? '') || 0);
  }
  return restarts > 0 && last > 0
    ? `${restarts} (${humanDuration(now - last)} ago)`
    : `${restarts}`;
}

function readinessGatesOf(pod: KubeObject): string {
  const gates: readonly { readonly conditionType: string }[] = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const met = gates.filter(({ conditionType }) =>
    conditionsOf(pod).some(({ type, status }) => type === conditionType && status === 'True'),
  );
  return `${met.length}/${gates.length}`;
}

/** Pods as `kubectl get pods` prints them. */
export const podPrinter: Printer = {
  columns: [
    nameColumn,
    column('Ready', 'The aggregate readiness state of this pod for accepting traffic.'),
    column('Status', 'The aggregate status of the containers in this pod.'),
    column('Restarts', 'The number of times the containers in this pod have been restarted.'),
    ageColumn,
    wide('IP', 'podIP address allocated to the pod.'),
    wide('Node', 'NodeName indicates in which node this pod is scheduled.'),
    wide('Nominated Node', 'nominatedNodeName is set only when this pod preempts other pods.'),
    wide('Readiness Gates', 'If specified, all readiness gates will be evaluated.'),
  ],
  cells: (pod, now) => {
    const ready = statusesOf(pod, 'containerStatuses').filter((status) => status.ready).length;
    const { containers, nodeName } = pod.spec;
    return [
      pod.metadata.name,
      `${ready}/${(containers ?? []).length}`,
      statusOf(pod),
      restartsOf(pod, now),
      age(pod, now),
      orNone(pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP),
      orNone(nodeName),
      orNone(pod.status?.nominatedNodeName),
      readinessGatesOf(pod),
    ];
  },
};
