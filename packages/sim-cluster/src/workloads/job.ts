import type { ControllerContext } from '../controllers/controller.ts';
import { conditionOf, isActive, isReady, withCondition } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import {
  createPod,
  deletePod,
  podsPerSyncMax,
  setStatus,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

/** Runs the pods of a Job until enough of them have succeeded or too many have failed, or it is suspended. */
export const jobKind: WorkloadKind = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  resource: 'jobs',
  creates: 'pods',
  sync: syncJob,
};

function syncJob(context: WorkloadContext, job: KubeObject): void {
  if (isFinished(job)) return;
  const { backoffLimit = 6 } = job.spec;
  const pods = context.lookup.ownedBy(job, 'pods');
  const active = pods.filter(isActive);
  const succeeded = context.endedPods.count(job, pods, 'Succeeded');
  const failed = context.endedPods.count(job, pods, 'Failed');
  const counts = {
    startTime: job.status?.startTime ?? formatTime(context.api.clock.now()),
    active: active.length,
    ready: active.filter(isReady).length,
    succeeded,
    failed,
  };
  if (isComplete(job, succeeded, active.length)) {
    finish(context, job, active, counts, 'Complete');
  } else if (failed > backoffLimit) {
    finish(context, job, active, counts, 'Failed');
  } else if (job.spec.suspend) {
    suspend(context, job, active, counts);
  } else {
    setStatus(context.api, jobKind, job, { ...counts, ...resumed(context, job) });
    createMissing(context, job, wantedPods(job, succeeded) - active.length);
  }
}

/** How many pods have to succeed; null: one, and the others end too, as workers at one queue do. */
function completionsOf({ spec }: KubeObject): number | null {
  return spec.completions ?? (spec.parallelism === undefined ? 1 : null);
}

function isComplete(job: KubeObject, succeeded: number, active: number): boolean {
  const completions = completionsOf(job);
  return completions === null ? succeeded > 0 && active === 0 : succeeded >= completions;
}

/** So many pods are to run at a time. */
function wantedPods(job: KubeObject, succeeded: number): number {
  const parallelism: number = job.spec.parallelism ?? 1;
  const completions = completionsOf(job);
  if (completions === null) return succeeded > 0 ? 0 : parallelism;
  return Math.min(parallelism, completions - succeeded);
}

/** Its time starts anew when it is resumed. */
function suspend(
  { api }: ControllerContext,
  job: KubeObject,
  active: readonly KubeObject[],
  counts: { readonly [field: string]: unknown },
): void {
  for (const pod of active) deletePod(api, pod);
  setStatus(api, jobKind, job, {
    ...counts,
    ...{ active: 0, ready: 0, startTime: undefined },
    conditions: withCondition(
      job.status?.conditions,
      { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' },
      formatTime(api.clock.now()),
    ),
  });
}

/** What the status says of a job that was suspended before. */
function resumed({ api }: ControllerContext, job: KubeObject): object {
  if (conditionOf(job, 'Suspended')?.status !== 'True') return {};
  const now = formatTime(api.clock.now());
  const condition = {
    type: 'Suspended',
    status: 'False',
    reason: 'JobResumed',
    message: 'Job resumed',
  };
  return { startTime: now, conditions: withCondition(job.status?.conditions, condition, now) };
}

function createMissing({ api }: ControllerContext, job: KubeObject, missing: number): void {
  const { name, uid = '' } = job.metadata;
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const created = Math.min(missing, podsPerSyncMax);
  for (let count = 0; count < created; count++) createPod(api, jobKind, job, { labels });
}

function isFinished(job: KubeObject): boolean {
  return ['Complete', 'Failed'].some((type) => conditionOf(job, type)?.status === 'True');
}

/** How a finished job says so. */
const endings = {
  Complete: ['CompletionsReached', 'Reached expected number of succeeded pods'],
  Failed: ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'],
} as const;

function finish(
  context: ControllerContext,
  job: KubeObject,
  active: readonly KubeObject[],
  counts: { readonly [field: string]: unknown },
  type: keyof typeof endings,
): void {
  for (const pod of active) deletePod(context.api, pod);
  const now = formatTime(context.api.clock.now());
  const [reason, message] = endings[type];
  const condition = { type, status: 'True', reason, message };
  setStatus(context.api, jobKind, job, {
    ...counts,
    active: 0,
    ready: 0,
    ...(type === 'Complete' ? { completionTime: now } : {}),
    conditions: withCondition(job.status?.conditions, condition, now),
  });
}
