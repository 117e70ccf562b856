import {
  type Condition,
  conditionOf,
  controllerOf,
  isActive,
  isReady,
  isTerminal,
  isTerminating,
  withCondition,
} from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import { endOf, pauseLeft } from './job-backoff.ts';
import {
  countIndexes,
  firstMissing,
  formatIndexes,
  hasIndex,
  type Indexes,
  indexKey,
  indexOf,
  metSuccessRule,
  parseIndexes,
  union,
  wholeNumber,
} from './job-indexes.ts';
import { judgeFailure } from './pod-failure-policy.ts';
import {
  createPod,
  deletePod,
  podsPerSyncMax,
  setStatus,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

// A Job and its pods as one look finds them, and what follows from that for its end.

const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
const ignoredCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

/** The Job and its pods as one look finds them. */
interface Look {
  readonly job: KubeObject;
  readonly pods: readonly KubeObject[];
  readonly active: readonly KubeObject[];
  /** Pods that have ended and are not counted in the status yet. */
  readonly newSucceeded: readonly KubeObject[];
  readonly newFailed: readonly KubeObject[];
  readonly succeeded: number;
  readonly failed: number;
  /** Null: the Job is not Indexed. */
  readonly indexes: IndexesOfJob | null;
}

interface IndexesOfJob {
  readonly succeeded: Indexes;
  /** Null: indexes have no limits of their own. */
  readonly failed: Indexes | null;
  /** The last failed pod of an index that has no other yet: the next one takes over its counts. */
  readonly waiting: ReadonlyMap<number, KubeObject>;
}

/** The condition that says that a Job is about to end, and later that it has ended. */
interface Ending {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

const lastConditions = { SuccessCriteriaMet: 'Complete', FailureTarget: 'Failed' } as const;

function isFinished(job: KubeObject): boolean {
  return Object.values(lastConditions).some((type) => conditionOf(job, type)?.status === 'True');
}

function isManagedElsewhere({ spec: { managedBy } }: KubeObject): boolean {
  return managedBy !== undefined && managedBy !== 'kubernetes.io/job-controller';
}

/** Whether a pod counts, and is replaced, when it has ended, and not when its deletion begins. */
function waitsForEnd({ spec }: KubeObject): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}

function hasFailed(job: KubeObject, pod: KubeObject): boolean {
  if (isTerminal(pod)) return pod.status.phase === 'Failed';
  return isTerminating(pod) && !waitsForEnd(job);
}

const isTracked = ({ metadata }: KubeObject): boolean =>
  metadata.finalizers?.includes(trackingFinalizer) ?? false;

const isIndexed = ({ spec }: KubeObject): boolean => spec.completionMode === 'Indexed';

/** A pod of an Indexed Job without an index of it counts for nothing. */
const isOwn = (job: KubeObject, pod: KubeObject): boolean =>
  !isIndexed(job) || indexOf(job, pod) !== null;

/** Counts the pods that have ended since the status was written. */
function lookAt(context: WorkloadContext, job: KubeObject): Look {
  const pods = context.lookup.ownedBy(job, 'pods');
  const own = pods.filter((pod) => isOwn(job, pod));
  const newSucceeded = own.filter((pod) => isTracked(pod) && pod.status?.phase === 'Succeeded');
  const newFailed = own.filter((pod) => isTracked(pod) && hasFailed(job, pod));
  const counts = (pod: KubeObject): boolean => judgeFailure(job, pod).counts;
  // Without the finalizer they are counted already; a manifest may say so by the pods alone.
  const known = (phase: 'Succeeded' | 'Failed'): readonly KubeObject[] =>
    own.filter((pod) => !isTracked(pod) && !isTerminating(pod) && pod.status?.phase === phase);
  const { status } = job;
  const failed =
    Math.max(status?.failed ?? 0, known('Failed').filter(counts).length) +
    newFailed.filter(counts).length;
  const succeeded = Math.max(status?.succeeded ?? 0, known('Succeeded').length);
  const active = pods.filter(isActive);
  const indexes = isIndexed(job) ? indexesOf(job, own, newFailed) : null;
  return {
    ...{ job, pods, active, newSucceeded, newFailed, failed, indexes },
    succeeded: indexes ? countIndexes(indexes.succeeded) : succeeded + newSucceeded.length,
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

const countIn = ({ metadata }: KubeObject, key: string): number =>
  wholeNumber(metadata.annotations?.[key]) ?? 0;

const failuresOf = (pod: KubeObject): number =>
  countIn(pod, failureCountKey) + countIn(pod, ignoredCountKey);

function begunEnding(job: KubeObject): Ending | null {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = conditionOf(job, type);
    const { status, reason = '', message = '' } = condition ?? {};
    if (status === 'True') return { type, reason, message };
  }
  return null;
}

function failureOf(context: WorkloadContext, look: Look): Ending | null {
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

function successOf({ job, indexes }: Look): Ending | null {
  const message = indexes ? metSuccessRule(job, indexes.succeeded) : null;
  return message === null ? null : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
}

/** Whether it is being deleted and has not ended. */
const isEnding = (pod: KubeObject): boolean => isTerminating(pod) && !isTerminal(pod);

/**
 * Runs the pods of a Job until enough of them have succeeded or too many have failed, or it is suspended.
 * Its pods have a finalizer until they are counted in its status, so that none goes unseen. A pod that is
 * being deleted counts as failed at once, unless the Job waits for the end of its pods (`waitsForEnd`).
 */
export const jobKind: WorkloadKind = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  resource: 'jobs',
  creates: 'pods',
  sync: syncJob,
};

const completed: Ending = {
  type: 'SuccessCriteriaMet',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
};

function syncJob(context: WorkloadContext, job: KubeObject): void {
  if (isFinished(job) || isManagedElsewhere(job)) return;
  track(context, job);
  const look = lookAt(context, job);
  const ending = begunEnding(job) ?? failureOf(context, look) ?? successOf(look);
  if (ending) end(context, look, ending);
  else if (job.spec.suspend) suspend(context, look);
  else goOn(context, look);
}

/** Puts the finalizer on pods without one: those that were adopted, or come from a manifest that has left it out. */
function track({ api, lookup }: WorkloadContext, job: KubeObject): void {
  for (const pod of lookup.ownedBy(job, 'pods')) {
    if (!isActive(pod) || isTracked(pod)) continue;
    const finalizers = [...(pod.metadata.finalizers ?? []), trackingFinalizer];
    api.update('pods', { ...pod, metadata: { ...pod.metadata, finalizers } });
  }
}

/** Ends what runs; the Job has ended when its last pod has. */
function end(context: WorkloadContext, look: Look, ending: Ending): void {
  const { api, lookup } = context;
  const { job, active } = look;
  for (const pod of active) deletePod(api, pod);
  const tracked = lookup.ownedBy(job, 'pods').filter(isTracked);
  // Each pod that a failed Job still had has failed with it.
  const others = active.filter((pod) => isOwn(job, pod) && judgeFailure(job, pod).counts);
  const failed = look.failed + (ending.type === 'FailureTarget' ? others.length : 0);
  const terminating = lookup.ownedBy(job, 'pods').filter(isEnding).length;
  const isOver = conditionOf(job, ending.type) !== null && tracked.length + terminating === 0;
  const now = formatTime(api.clock.now());
  const { reason, message } = ending;
  const type = isOver ? lastConditions[ending.type] : ending.type;
  setStatus(api, jobKind, job, {
    ...countsOf(context, { ...look, failed }, { active: 0, ready: 0, terminating }),
    ...(type === 'Complete' ? { completionTime: now } : {}),
    conditions: withCondition(
      job.status?.conditions,
      { type, status: 'True', reason, message },
      now,
    ),
  });
  for (const pod of tracked) release(api, pod);
  context.jobBackoffs.forget(job);
}

/** Its time starts anew when it is resumed. */
function suspend(context: WorkloadContext, look: Look): void {
  const { api } = context;
  const { job, active } = look;
  remove(api, active);
  const condition = { type: 'Suspended', reason: 'JobSuspended', message: 'Job suspended' };
  settle(context, look, {
    ...countsOf(context, look, { active: 0, ready: 0, terminating: terminatingOf(context, job) }),
    startTime: undefined,
    conditions: withCondition(
      job.status?.conditions,
      { ...condition, status: 'True' },
      formatTime(api.clock.now()),
    ),
  });
}

const terminatingOf = ({ lookup }: WorkloadContext, job: KubeObject): number =>
  lookup.ownedBy(job, 'pods').filter(isEnding).length;

/** Makes pods that are missing, or deletes those that are too many. */
function goOn(context: WorkloadContext, look: Look): void {
  const { api, jobBackoffs } = context;
  const { job, active } = look;
  const wanted = wantedPods(look);
  const surplus = surplusPods(look, wanted);
  const missing = wanted - active.length - (waitsForEnd(job) ? terminatingOf(context, job) : 0);
  const failures = jobBackoffs.next(job, look.newSucceeded, look.newFailed);
  const now = api.clock.now();
  let created = 0;
  if (surplus.length > 0) {
    remove(api, surplus);
  } else if (missing > 0) {
    const { indexes, pauseMs } = nextIndexes(look, missing, now);
    const pause = look.indexes?.failed ? pauseMs : pauseLeft(failures, now);
    if (pause > 0) {
      context.again(pause);
      // As kube-controller-manager 1.36 has it: its status of this moment, no active but ready pods, is
      // refused, so that the pods that have ended stay and are not counted until the pause is over.
      if (active.some(isReady)) return;
    } else created = createPods(api, look, indexes ?? missing);
  }
  const left = active.filter((pod) => !surplus.includes(pod));
  const counts = { active: left.length + created, ready: left.filter(isReady).length };
  const isDone = isComplete(look, counts.active);
  if (isDone) end(context, { ...look, active: left }, completed);
  else {
    settle(context, look, {
      ...countsOf(context, look, { ...counts, terminating: terminatingOf(context, job) }),
      ...resumed(api, job),
    });
  }
  jobBackoffs.set(job, failures);
}

/** How many pods have to succeed; null: one, and the others end too, as workers at one queue do. */
function completionsOf({ spec }: KubeObject): number | null {
  return spec.completions ?? (spec.parallelism === undefined ? 1 : null);
}

function isComplete({ job, succeeded }: Look, active: number): boolean {
  const completions = completionsOf(job);
  return active === 0 && succeeded >= (completions ?? 1);
}

/** So many pods are to run at a time. */
function wantedPods({ job, succeeded, active }: Look): number {
  const parallelism: number = job.spec.parallelism ?? 1;
  const completions = completionsOf(job);
  if (completions === null) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

/** Pods with an index of another one or of none, and the least far of those that are too many. */
function surplusPods({ job, active }: Look, wanted: number): readonly KubeObject[] {
  const byProgress = [...active].sort((one, other) => progressOf(one) - progressOf(other));
  const taken = new Set<number>();
  const doubles = isIndexed(job)
    ? byProgress.toReversed().filter((pod) => {
        const index = indexOf(job, pod);
        const isFirst = index !== null && !taken.has(index);
        if (isFirst) taken.add(index);
        return !isFirst;
      })
    : [];
  const others = byProgress.filter((pod) => !doubles.includes(pod));
  const excess = Math.max(0, active.length - wanted - doubles.length);
  return [...doubles, ...others.slice(0, excess)].slice(0, podsPerSyncMax);
}

const progressOf = (pod: KubeObject): number =>
  (pod.spec.nodeName ? 1 : 0) + (pod.status?.phase === 'Running' ? 2 : 0) + (isReady(pod) ? 4 : 0);

/** The indexes of the next pods, of which each may have to pause; null: the Job has none. */
function nextIndexes(
  { job, pods, active, indexes }: Look,
  missing: number,
  nowMs: number,
): { readonly indexes: readonly number[] | null; readonly pauseMs: number } {
  if (!indexes) return { indexes: null, pauseMs: 0 };
  const busy = [...active, ...(waitsForEnd(job) ? pods.filter(isEnding) : [])];
  const taken = union(
    [...indexes.succeeded, ...(indexes.failed ?? [])],
    busy.flatMap((pod) => indexOf(job, pod) ?? []),
  );
  const next = firstMissing(taken, Math.min(missing, podsPerSyncMax), job.spec.completions);
  const pauseOf = (index: number): number => {
    const last = indexes.waiting.get(index);
    return last ? pauseLeft({ count: failuresOf(last) + 1, lastAt: endOf(last) }, nowMs) : 0;
  };
  const ready = next.filter((index) => pauseOf(index) === 0);
  const pauseMs = ready.length > 0 ? 0 : Math.min(...next.map(pauseOf));
  return { indexes: ready, pauseMs: Number.isFinite(pauseMs) ? pauseMs : 0 };
}

/** One for each index, or so many without; returns how many these are. */
function createPods(api: ClusterApi, look: Look, which: readonly number[] | number): number {
  const { job } = look;
  const { name, uid = '' } = job.metadata;
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const finalizers = [trackingFinalizer];
  if (typeof which === 'number') {
    const created = Math.min(which, podsPerSyncMax);
    for (let count = 0; count < created; count++)
      createPod(api, jobKind, job, { labels, finalizers });
    return created;
  }
  for (const index of which) {
    createPod(api, jobKind, job, {
      generateName: `${name}-${index}-`,
      labels: { ...labels, [indexKey]: String(index) },
      annotations: { [indexKey]: String(index), ...failureCounts(look, index) },
      finalizers,
      spec: { ...withIndexVariable(job.spec.template.spec), hostname: `${name}-${index}` },
    });
  }
  return which.length;
}

/** How often the pods of the index have failed before, where it has a limit of its own. */
function failureCounts(look: Look, index: number): Readonly<Record<string, string>> {
  if (!look.indexes?.failed) return {};
  const last = look.indexes.waiting.get(index);
  const counts = last ? judgeFailure(look.job, last).counts : true;
  const failures = last ? countIn(last, failureCountKey) + (counts ? 1 : 0) : 0;
  const ignored = last ? countIn(last, ignoredCountKey) + (counts ? 0 : 1) : 0;
  return {
    [failureCountKey]: String(failures),
    ...(ignored > 0 ? { [ignoredCountKey]: String(ignored) } : {}),
  };
}

type Spec = KubeObject['spec'];

/** Containers learn their index by a variable. */
function withIndexVariable(spec: Spec): Spec {
  const variable = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexKey}']` } },
  };
  const withVariable = (container: Spec): Spec => {
    const { env = [] } = container;
    const isThere = env.some(({ name }: { readonly name: string }) => name === variable.name);
    return isThere ? container : { ...container, env: [...env, variable] };
  };
  const { initContainers, containers } = spec;
  return {
    ...(initContainers ? { initContainers: initContainers.map(withVariable) } : {}),
    containers: (containers ?? []).map(withVariable),
  };
}

/** Deletes pods that are not to count. */
function remove(api: ClusterApi, pods: readonly KubeObject[]): void {
  for (const pod of pods) {
    release(api, pod);
    deletePod(api, pod);
  }
}

/** Lets the pod go when it is deleted. */
function release(api: ClusterApi, { metadata: { namespace = '', name, uid } }: KubeObject): void {
  const pod = api.get('pods', namespace, name);
  if (pod?.metadata.uid !== uid || !pod || !isTracked(pod)) return;
  const finalizers = pod.metadata.finalizers?.filter((one) => one !== trackingFinalizer) ?? [];
  api.update('pods', { ...pod, metadata: { ...pod.metadata, finalizers } });
}

/** Whether the pod is one of a Job that looks after it no more. */
export function isLeftByJob(api: ClusterApi, pod: KubeObject): boolean {
  if (!isTracked(pod)) return false;
  const { namespace = '' } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner && owner.kind !== jobKind.kind) return false;
  const job = owner && api.get(jobKind.resource, namespace, owner.name);
  return !job || job.metadata.uid !== owner.uid || isTerminating(job) || isFinished(job);
}

/** Takes the finalizer from a pod that nobody counts any more. */
export function releaseFromJob(api: ClusterApi, pod: KubeObject): void {
  if (isLeftByJob(api, pod)) release(api, pod);
}

type Counts = { readonly [field: string]: unknown };

/** The counts of the status; `now` are those of pods that have not ended. */
function countsOf({ api }: WorkloadContext, look: Look, now: Counts): Counts {
  const { job, succeeded, failed, indexes } = look;
  return {
    startTime: job.status?.startTime ?? formatTime(api.clock.now()),
    ...now,
    ...{ succeeded, failed, uncountedTerminatedPods: {} },
    ...(indexes ? { completedIndexes: formatIndexes(indexes.succeeded) } : {}),
    ...(indexes?.failed ? { failedIndexes: formatIndexes(indexes.failed) } : {}),
  };
}

/** Writes the status, and lets the pods go that are counted in it. */
function settle({ api }: WorkloadContext, look: Look, status: Counts): void {
  const waiting = new Set(look.indexes?.waiting.values());
  const counted = look.newFailed.filter((pod) => !waiting.has(pod));
  const later = [...waiting].filter((pod) => judgeFailure(look.job, pod).counts).length;
  setStatus(api, jobKind, look.job, { ...status, failed: look.failed - later });
  for (const pod of [...look.newSucceeded, ...counted]) release(api, pod);
}

/** What the status says of a job that was suspended before. */
function resumed(api: ClusterApi, job: KubeObject): object {
  if (conditionOf(job, 'Suspended')?.status !== 'True') return {};
  const now = formatTime(api.clock.now());
  const condition: Condition = {
    type: 'Suspended',
    status: 'False',
    reason: 'JobResumed',
    message: 'Job resumed',
  };
  return { startTime: now, conditions: withCondition(job.status?.conditions, condition, now) };
}
