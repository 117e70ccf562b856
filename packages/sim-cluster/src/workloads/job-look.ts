// A Job and its pods as one look finds them, and what follows from that for its end.
import { conditionOf, isActive, isTerminal, isTerminating } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { endOf } from './job-backoff.ts';
import {
  countIndexes,
  hasIndex,
  type Indexes,
  indexOf,
  metSuccessRule,
  parseIndexes,
  union,
  wholeNumber,
} from './job-indexes.ts';
import { judgeFailure } from './pod-failure-policy.ts';
import type { WorkloadContext } from './workload.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

/** The Job and its pods as one look finds them. */
export interface Look {
  readonly job: KubeObject;
  readonly pods: readonly KubeObject[];
  readonly active: readonly KubeObject[];
  /** Pods that have ended and are not counted in the status yet. */
  readonly newSucceeded: readonly KubeObject[];
  readonly newFailed: readonly KubeObject[];
  readonly succeeded: number;
  readonly failed: number;
  /** The same without those. */
  readonly before: { readonly succeeded: number; readonly failed: number };
  /** Null: the Job is not Indexed. */
  readonly indexes: IndexesOfJob | null;
}

interface IndexesOfJob {
  readonly succeeded: Indexes;
  /** Null: indexes have no separate limits. */
  readonly failed: Indexes | null;
  /** The last failed pod of an index without a newer pod: the next one takes over its counts. */
  readonly waiting: ReadonlyMap<number, KubeObject>;
}

/** The condition that says that a Job is about to end, and later that it has ended. */
export interface Ending {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

export const lastConditions = { SuccessCriteriaMet: 'Complete', FailureTarget: 'Failed' } as const;

export function isFinished(job: KubeObject): boolean {
  return Object.values(lastConditions).some((type) => conditionOf(job, type)?.status === 'True');
}

export function isManagedElsewhere({ spec: { managedBy } }: KubeObject): boolean {
  return managedBy !== undefined && managedBy !== 'kubernetes.io/job-controller';
}

/**
 * True if a failed pod counts, and is replaced, at its end rather than at the start of its
 * deletion.
 */
export function waitsForEnd({ spec }: KubeObject): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}

function hasFailed(job: KubeObject, pod: KubeObject): boolean {
  if (isTerminal(pod)) return pod.status.phase === 'Failed';
  return isTerminating(pod) && !waitsForEnd(job);
}

export const isTracked = ({ metadata }: KubeObject): boolean =>
  metadata.finalizers?.includes(trackingFinalizer) ?? false;

export const isIndexed = ({ spec }: KubeObject): boolean => spec.completionMode === 'Indexed';

/** A pod of an Indexed Job without an index of it counts for nothing. */
export const isOwn = (job: KubeObject, pod: KubeObject): boolean =>
  !isIndexed(job) || indexOf(job, pod) !== null;

/** Counts the pods that have ended since the status was written. */
export function lookAt(context: WorkloadContext, job: KubeObject): Look {
  const pods = context.lookup.ownedBy(job, 'pods');
  const own = pods.filter((pod) => isOwn(job, pod));
  const newSucceeded = own.filter((pod) => isTracked(pod) && pod.status?.phase === 'Succeeded');
  const newFailed = own.filter((pod) => isTracked(pod) && hasFailed(job, pod));
  const counts = (pod: KubeObject): boolean => judgeFailure(job, pod).counts;
  // Without the finalizer they are counted already; a manifest may say so by the pods alone.
  const known = (phase: 'Succeeded' | 'Failed'): readonly KubeObject[] =>
    own.filter((pod) => !isTracked(pod) && !isTerminating(pod) && pod.status?.phase === phase);
  const { status } = job;
  const before = {
    succeeded: Math.max(status?.succeeded ?? 0, known('Succeeded').length),
    failed: Math.max(status?.failed ?? 0, known('Failed').filter(counts).length),
  };
  const failed = before.failed + newFailed.filter(counts).length;
  const active = pods.filter(isActive);
  const indexes = isIndexed(job) ? indexesOf(job, own, newFailed) : null;
  return {
    ...{ job, pods, active, newSucceeded, newFailed, failed, before, indexes },
    succeeded: indexes ? countIndexes(indexes.succeeded) : before.succeeded + newSucceeded.length,
  };
}

function indexesOf(
  job: KubeObject,
  own: readonly KubeObject[],
  newFailed: readonly KubeObject[],
): IndexesOfJob {
  const { completions, backoffLimitPerIndex } = job.spec;
  const { completedIndexes, failedIndexes } = job.status ?? {};
  const of = (pods: readonly KubeObject[]): readonly number[] =>
    pods.map((pod) => indexOf(job, pod) ?? 0);
  const ended = own.filter(({ status }) => status?.phase === 'Succeeded');
  const succeeded = union(parseIndexes(completedIndexes, completions), of(ended));
  if (backoffLimitPerIndex === undefined) return { succeeded, failed: null, waiting: new Map() };
  const given = newFailed.filter((pod) => {
    const { failsIndex, counts } = judgeFailure(job, pod);
    return failsIndex || (counts && countIn(pod, failureCountKey) >= backoffLimitPerIndex);
  });
  const failed = union(parseIndexes(failedIndexes, completions), of(given));
  const busy = union([...succeeded, ...failed], of(own.filter(isActive)));
  const waiting = new Map<number, KubeObject>();
  for (const pod of newFailed) {
    const index = indexOf(job, pod) ?? 0;
    const last = waiting.get(index);
    const isLater = !last || (failuresOf(last) <= failuresOf(pod) && endOf(pod) >= endOf(last));
    if (isLater && !hasIndex(busy, index)) waiting.set(index, pod);
  }
  return { succeeded, failed, waiting };
}

export const countIn = ({ metadata }: KubeObject, key: string): number =>
  wholeNumber(metadata.annotations?.[key]) ?? 0;

export const failuresOf = (pod: KubeObject): number =>
  countIn(pod, failureCountKey) + countIn(pod, ignoredCountKey);

export function begunEnding(job: KubeObject): Ending | null {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = conditionOf(job, type);
    const { status, reason = '', message = '' } = condition ?? {};
    if (status === 'True') return { type, reason, message };
  }
  return null;
}

export function failureOf(context: WorkloadContext, look: Look): Ending | null {
  const { job, pods, failed, indexes } = look;
  const { spec } = job;
  const fail = (reason: string, message: string): Ending => ({
    ...{ type: 'FailureTarget', reason, message },
  });
  for (const pod of pods) {
    const message = hasFailed(job, pod) ? judgeFailure(job, pod).failsJob : null;
    if (message !== null) return fail('PodFailurePolicy', message);
  }
  if (failed > (spec.backoffLimit ?? 6) || restartsTooOften(look)) {
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds !== undefined && !spec.suspend) {
    const start = Date.parse(job.status?.startTime ?? '') || context.api.clock.now();
    const left = start + 1000 * activeDeadlineSeconds - context.api.clock.now();
    if (left <= 0) {
      return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
    }
    context.again(left);
  }
  if (!indexes?.failed) return null;
  const count = countIndexes(indexes.failed);
  if (count > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    const text = 'Job has exceeded the specified maximal number of failed indexes';
    return fail('MaxFailedIndexesExceeded', text);
  }
  const isDone = count > 0 && count + countIndexes(indexes.succeeded) >= spec.completions;
  return isDone ? fail('FailedIndexes', 'Job has failed indexes') : null;
}

/** Containers that are restarted in their pods count where the pod's restartPolicy is OnFailure. */
function restartsTooOften({ job, active }: Look): boolean {
  if (job.spec.template?.spec?.restartPolicy !== 'OnFailure') return false;
  interface Status {
    readonly restartCount?: number;
  }
  let restarts = 0;
  for (const { status } of active) {
    const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
    const statuses: readonly Status[] = [...initContainerStatuses, ...containerStatuses];
    for (const { restartCount = 0 } of statuses) restarts += restartCount;
  }
  return restarts > 0 && restarts >= (job.spec.backoffLimit ?? 6);
}

export function successOf({ job, indexes }: Look): Ending | null {
  const message = indexes ? metSuccessRule(job, indexes.succeeded) : null;
  return message === null ? null : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
}
