// The scheduler's writes about pods: conditions, nominations, events, and the removal of victims.
import { conditionOf, withCondition } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatMicroTime, formatTime } from '../objects/time.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import { ownSchedulerName } from './unknown-rules.ts';

/** The time without another failure of a pod after which the next failure gets a separate event. */
const seriesMs = 6 * 60_000;

/** An event about a pod. */
interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly message: string;
  readonly related?: KubeObject;
}

/** Writes for the scheduler. */
export class PodReports {
  readonly #api: ClusterApi;
  /** When each pod that waits has last failed. */
  readonly #failedAt = new Map<string, number>();
  #events = 0;

  constructor(api: ClusterApi) {
    this.#api = api;
  }

  /** Forgets a pod that waits no more. */
  forget(key: string): void {
    this.#failedAt.delete(key);
  }

  /** The time since a waiting pod last failed, in milliseconds. */
  sinceFailure(key: string): number {
    return this.#api.clock.now() - (this.#failedAt.get(key) ?? Number.NEGATIVE_INFINITY);
  }

  /** Says that a pod does not enter the queue. */
  gated(pod: KubeObject): void {
    const message = 'Scheduling is blocked due to non-empty scheduling gates';
    this.#condition(pod, { reason: 'SchedulingGated', message });
  }

  /** Reports why a pod has no node, and the node it is nominated for; '' for none. */
  unschedulable(
    key: string,
    pod: KubeObject,
    message: string,
    nominated: string,
    reason: 'Unschedulable' | 'SchedulerError' = 'Unschedulable',
  ): KubeObject {
    this.#noteFailure(key, pod, message);
    const { nominatedNodeName = '', ...status } = pod.status ?? {};
    if (nominatedNodeName === nominated) return this.#condition(pod, { reason, message }) ?? pod;
    const next = {
      ...pod,
      status: { ...status, ...(nominated && { nominatedNodeName: nominated }) },
    };
    return this.#condition(next, { reason, message }) ?? this.#api.update('pods', next, 'status');
  }

  /** Failures in a row are one event. */
  #noteFailure(key: string, pod: KubeObject, message: string): void {
    const isSeries = this.sinceFailure(key) < seriesMs;
    this.#failedAt.set(key, this.#api.clock.now());
    if (isSeries) return;
    const notice = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling' } as const;
    this.#event(pod, { ...notice, message });
  }

  /** Takes the nomination back that a more important pod has overridden. */
  withdraw(pod: KubeObject): void {
    const { nominatedNodeName, ...status } = pod.status ?? {};
    if (nominatedNodeName) this.#api.update('pods', { ...pod, status }, 'status');
  }

  /**
   * Removes a pod to make room for another one: marks it, then deletes it with its grace period,
   * regardless of budgets. A terminating pod is left alone.
   */
  preempt(victim: KubeObject, by: KubeObject, nodeName: string): void {
    const { namespace = '', name, uid = '', deletionTimestamp } = victim.metadata;
    const api = this.#api;
    if (deletionTimestamp !== undefined) return;
    const scheduler = by.spec.schedulerName ?? ownSchedulerName;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${scheduler}: preempting to accommodate a higher priority pod`,
    };
    const now = formatTime(api.clock.now());
    const conditions = withCondition(victim.status?.conditions, condition, now);
    api.update('pods', { ...victim, status: { ...victim.status, conditions } }, 'status');
    api.delete('pods', namespace, name, { uid });
    const message = `Preempted by pod ${by.metadata.uid} on node ${nodeName}`;
    const given = { type: 'Normal', reason: 'Preempted', action: 'Preempting' } as const;
    this.#event(victim, { ...given, message, related: by });
  }

  /** Null: the pod says so already. */
  #condition(
    pod: KubeObject,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): KubeObject | null {
    const old = conditionOf(pod, 'PodScheduled');
    if (old?.status === 'False' && old.reason === reason && old.message === message) return null;
    const condition = { type: 'PodScheduled', status: 'False', reason, message };
    const api = this.#api;
    const now = formatTime(api.clock.now());
    const conditions = withCondition(pod.status?.conditions, condition, now);
    return api.update('pods', { ...pod, status: { ...pod.status, conditions } }, 'status');
  }

  #event(pod: KubeObject, { related, ...notice }: Notice): void {
    const { namespace = '', name } = pod.metadata;
    const api = this.#api;
    const now = api.clock.now();
    const number = BigInt(Math.trunc(now)) * 1_000_000n + BigInt(this.#events++ % 1_000_000);
    api.create('events', {
      metadata: { name: `${name}.${number.toString(16)}`, namespace },
      involvedObject: referenceTo(pod),
      ...(related ? { related: referenceTo(related) } : {}),
      ...notice,
      eventTime: formatMicroTime(now),
      firstTimestamp: null,
      lastTimestamp: null,
      source: {},
      reportingComponent: ownSchedulerName,
      reportingInstance: `${ownSchedulerName}-0`,
    });
  }
}

function referenceTo({ metadata }: KubeObject): KubeObject['involvedObject'] {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { kind: 'Pod', apiVersion: 'v1', namespace, name, uid, resourceVersion };
}
