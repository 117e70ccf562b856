// The controller of Jobs.
import {
  type Condition,
  conditionOf,
  controllerOf,
  isActive,
  isEnding,
  isReady,
  isTerminating,
  withCondition,
} from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import { endOf, pauseLeft } from './job-backoff.ts';
import { firstMissing, formatIndexes, indexKey, indexOf, union } from './job-indexes.ts';
import {
  begunEnding,
  countIn,
  type Ending,
  failureCountKey,
  failureOf,
  failuresOf,
  ignoredCountKey,
  isFinished,
  isIndexed,
  isManagedElsewhere,
  isOwn,
  isTracked,
  type Look,
  lastConditions,
  lookAt,
  successOf,
  trackingFinalizer,
  waitsForEnd,
} from './job-look.ts';
import { judgeFailure } from './pod-failure-policy.ts';
import {
  createPod,
  deletePod,
  isClosing,
  podsPerSyncMax,
  setStatus,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

/** Changes of its pods, and of its status, are answered together after this time, as by the real one. */
const patienceMs = 1000;

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
  patienceMs,
  sync: syncJob,
  settle,
};

const completed: Ending = {
  type: 'SuccessCriteriaMet',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
};

/** The pods as they are after one look. */
interface Pods {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

function syncJob(context: WorkloadContext, found: KubeObject): void {
  if (isManagedElsewhere(found)) return;
  const job = settle(context, found);
  if (isFinished(job)) {
    expire(context, job);
    return;
  }
  track(context, job);
  const look = lookAt(context, job);
  const ending = begunEnding(job) ?? failureOf(context, look) ?? successOf(look);
  if (ending) end(context, look, ending);
  else if (isTerminating(job)) count(context, look, podsIn(context, look));
  else if (job.spec.suspend) suspend(context, look);
  else goOn(context, look);
}

/** Deletes a Job that has ended long enough ago, by its ttlSecondsAfterFinished; its pods go before it. */
function expire(context: WorkloadContext, job: KubeObject): void {
  const ttl: number | undefined = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined || isTerminating(job)) return;
  const { api } = context;
  const ends = Object.values(lastConditions).flatMap((type) => {
    const { status, lastTransitionTime = '' } = conditionOf(job, type) ?? {};
    return status === 'True' ? [Date.parse(lastTransitionTime)] : [];
  });
  const leftMs = Math.max(...ends) + 1000 * ttl - api.clock.now();
  if (leftMs > 0) {
    context.again(leftMs);
    return;
  }
  const { namespace = '', name, uid = '' } = job.metadata;
  api.delete(jobKind.resource, namespace, name, { uid, propagationPolicy: 'Foreground' });
}

/** Puts the finalizer on pods without one: those that were adopted, or come from a manifest that has left it out. */
function track({ api, lookup }: WorkloadContext, job: KubeObject): void {
  for (const pod of lookup.ownedBy(job, 'pods')) {
    if (!isActive(pod) || isTracked(pod)) continue;
    const finalizers = [...(pod.metadata.finalizers ?? []), trackingFinalizer];
    api.update('pods', { ...pod, metadata: { ...pod.metadata, finalizers } });
  }
}

const podsIn = ({ lookup }: WorkloadContext, { job, active }: Look): Pods => ({
  active: active.length,
  ready: active.filter(isReady).length,
  terminating: lookup.ownedBy(job, 'pods').filter(isEnding).length,
});

/** Ends what runs; the Job has ended when its last pod has. */
function end(context: WorkloadContext, look: Look, ending: Ending): void {
  const { api, lookup } = context;
  const { job, active } = look;
  for (const pod of active) deletePod(api, pod);
  // Each pod that a failed Job still had has failed with it.
  const others = ending.type === 'FailureTarget' ? active.filter((pod) => isOwn(job, pod)) : [];
  const newFailed = [...look.newFailed, ...others];
  const terminating = lookup.ownedBy(job, 'pods').filter(isEnding).length;
  const tracked = lookup.ownedBy(job, 'pods').filter(isTracked);
  const pods: Pods = { active: 0, ready: 0, terminating };
  count(context, { ...look, newFailed }, pods, { ending, tracked });
  context.jobBackoffs.forget(job);
}

/** Its time starts over when it is resumed. */
function suspend(context: WorkloadContext, look: Look): void {
  const { api, lookup } = context;
  const { job, active } = look;
  remove(api, active);
  const terminating = lookup.ownedBy(job, 'pods').filter(isEnding).length;
  const condition = { type: 'Suspended', reason: 'JobSuspended', message: 'Job suspended' };
  const now = formatTime(api.clock.now());
  const conditions = withCondition(job.status?.conditions, { ...condition, status: 'True' }, now);
  const fields = { startTime: undefined, conditions };
  count(context, look, { active: 0, ready: 0, terminating }, { fields });
}

/** Makes pods that are missing, or deletes those that are too many. */
function goOn(context: WorkloadContext, look: Look): void {
  const { api, jobBackoffs } = context;
  const { job, active } = look;
  const wanted = wantedPods(look);
  const surplus = surplusPods(look, wanted);
  const found = podsIn(context, look);
  const missing = wanted - active.length - (waitsForEnd(job) ? found.terminating : 0);
  const failures = jobBackoffs.next(job, look.newSucceeded, look.newFailed);
  const now = api.clock.now();
  let running = active.length;
  if (surplus.length > 0) {
    remove(api, surplus);
    running -= surplus.length;
  } else if (missing > 0 && !isClosing(api, job)) {
    const { indexes, pauseMs } = nextIndexes(look, missing, now);
    const pause = look.indexes?.failed ? pauseMs : pauseLeft(failures, now);
    if (pause > 0) {
      context.again(pause);
      // As in kube-controller-manager 1.36: its present status, with no active but with ready pods,
      // is refused, so that ended pods stay uncounted until the pause is over.
      if (found.ready > 0) return;
      running = 0;
    } else running += createPods(api, look, indexes ?? missing);
  }
  const left = active.filter((pod) => !surplus.includes(pod));
  const pods: Pods = {
    active: running,
    ready: left.filter(isReady).length,
    terminating: found.terminating + surplus.length,
  };
  if (isComplete(look, pods.active)) end(context, { ...look, active: left }, completed);
  else count(context, look, pods, { fields: resumed(api, job) });
  jobBackoffs.set(job, failures);
}

/**
 * The number of pods that have to succeed; null: one, and the others end too, as workers at one
 * queue do.
 */
function completionsOf({ spec }: KubeObject): number | null {
  return spec.completions ?? (spec.parallelism === undefined ? 1 : null);
}

function isComplete({ job, succeeded }: Look, active: number): boolean {
  const completions = completionsOf(job);
  return active === 0 && succeeded >= (completions ?? 1);
}

/** The number of pods that should run at a time. */
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

/** Creates a pod for each index, or as many without; returns their number. */
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

/** The number of earlier failures of the index's pods, where each index has a limit. */
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

/** True if the pod belongs to a Job that no longer looks after it. */
export function isLeftByJob(api: ClusterApi, pod: KubeObject): boolean {
  if (!isTracked(pod)) return false;
  const { namespace = '' } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner && owner.kind !== jobKind.kind) return false;
  const job = owner && api.get(jobKind.resource, namespace, owner.name);
  return !job || job.metadata.uid !== owner.uid || isTerminating(job) || isFinished(job);
}

/** Removes the finalizer of a pod that no Job counts any more. */
export function releaseFromJob(api: ClusterApi, pod: KubeObject): void {
  if (isLeftByJob(api, pod)) release(api, pod);
}

type Fields = { readonly [field: string]: unknown };

/** Further results of a look. */
interface Outcome {
  /** Fields of the status beside its counts. */
  readonly fields?: object;
  readonly ending?: Ending;
  /** All pods to release; left out: those that are counted. */
  readonly tracked?: readonly KubeObject[];
}

/**
 * Writes the status in two steps, as the real controller does: first the pods that have ended and,
 * once these are released, their counts (`settle`). So every pod is counted, and the Job ends only
 * afterwards.
 */
function count(context: WorkloadContext, look: Look, pods: Pods, outcome: Outcome = {}): void {
  const { api } = context;
  const { job, before, indexes, newSucceeded, newFailed } = look;
  const { fields = {}, ending, tracked } = outcome;
  const waiting = new Set(tracked ? [] : indexes?.waiting.values());
  const ended = [...newSucceeded, ...newFailed].filter((pod) => !waiting.has(pod));
  const failed = newFailed.filter((pod) => !waiting.has(pod) && judgeFailure(job, pod).counts);
  const uncounted = {
    succeeded: indexes ? [] : newSucceeded.map(uidOf),
    failed: failed.map(uidOf),
  };
  const now = formatTime(api.clock.now());
  const noted = setStatus(api, jobKind, job, {
    startTime: job.status?.startTime ?? now,
    ...pods,
    succeeded: indexes ? look.succeeded : before.succeeded,
    failed: before.failed,
    ...(indexes ? { completedIndexes: formatIndexes(indexes.succeeded) } : {}),
    ...(indexes?.failed ? { failedIndexes: formatIndexes(indexes.failed) } : {}),
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length > 0 ? { succeeded: uncounted.succeeded } : {}),
      ...(uncounted.failed.length > 0 ? { failed: uncounted.failed } : {}),
    },
    ...(ending
      ? { conditions: withCondition(job.status?.conditions, trueCondition(ending), now) }
      : {}),
    ...fields,
  });
  const uids = new Set([...uncounted.succeeded, ...uncounted.failed]);
  for (const pod of tracked ?? ended) if (!uids.has(uidOf(pod))) release(api, pod);
  if (uids.size > 0) context.lookTwice();
  else settle(context, noted);
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

/** Releases and counts the pods that the status lists as uncounted; returns the new Job. */
function settle({ api, lookup }: WorkloadContext, job: KubeObject): KubeObject {
  interface Uncounted {
    readonly succeeded?: readonly string[];
    readonly failed?: readonly string[];
  }
  if (isFinished(job)) return job;
  const { uncountedTerminatedPods = {}, succeeded: before = 0, failed = 0 } = job.status ?? {};
  const { succeeded: done = [], failed: lost = [] }: Uncounted = uncountedTerminatedPods;
  const ending = begunEnding(job);
  if (done.length + lost.length === 0 && !ending) return job;
  const uids = new Set([...done, ...lost]);
  const pods = lookup.ownedBy(job, 'pods');
  for (const pod of pods) if (uids.has(uidOf(pod))) release(api, pod);
  const isOver = ending !== null && !job.status?.terminating;
  return setStatus(api, jobKind, job, {
    succeeded: before + done.length,
    failed: failed + lost.length,
    uncountedTerminatedPods: {},
    ...(isOver ? lastFields(job, ending, formatTime(api.clock.now())) : {}),
  });
}

const trueCondition = ({ type, reason, message }: Ending): Condition => ({
  ...{ type, status: 'True', reason, message },
});

function lastFields(job: KubeObject, ending: Ending, now: string): Fields {
  const last = { ...trueCondition(ending), type: lastConditions[ending.type] };
  return {
    ...(last.type === 'Complete' ? { completionTime: now } : {}),
    conditions: withCondition(job.status?.conditions, last, now),
  };
}

/** The status fields of a resumed Job. */
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
