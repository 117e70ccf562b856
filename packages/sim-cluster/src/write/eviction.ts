// The pods/eviction subresource and its budgets.

import { ApiError, badRequest, evictionBlocked, forbidden, notFound } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import { storedResource } from '../resources/resources.ts';
import { labelSelectorRequirements, matchesLabels } from '../selectors/labels.ts';
import type { Writer } from './admission.ts';
import { judgeSubresource } from './admit.ts';
import type { Backend, Target } from './backend.ts';
import { checkSubresourceName } from './binding.ts';
import {
  checkDeletePreconditions,
  type DeleteRequest,
  deleteObject,
  validateDeleteRequest,
} from './delete.ts';
import { writeNext } from './update.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

const retryAfterSeconds = 10;
const disruptedPodsMax = 2000;
const tooManyBudgetsMessage =
  'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';

/**
 * POST pods/NAME/eviction: deletes the pod unless its PodDisruptionBudget forbids it. A refusal
 * is an ApiError: 429 for the budget, 409 for preconditions, 500 for two budgets. Preconditions
 * are looked at only after the budget was charged, as in the real server.
 */
export function evictPod(
  backend: Backend,
  target: Target,
  eviction: KubeObject,
  dryRunQuery: readonly string[],
  writer?: Writer,
): void {
  checkSubresourceName(target, eviction);
  const request = deleteRequest(eviction, dryRunQuery);
  judgeSubresource(backend, 'eviction', eviction, {
    target,
    dryRun: (request.dryRun ?? []).length > 0,
    writer,
  });
  validateDeleteRequest(request);
  const pod = backend.store.get('pods', target.namespace, target.name);
  if (!pod) throw notFound(storedResource('pods'), target.name);
  if (!isBeyondBudgets(pod)) chargeBudget(backend, pod, request);
  deleteWithCondition(backend, pod, request);
}

function deleteRequest(eviction: KubeObject, dryRunQuery: readonly string[]): DeleteRequest {
  const options: DeleteRequest = eviction.deleteOptions ?? {};
  const given = options.dryRun ?? [];
  if (dryRunQuery.length === 0) return options;
  if (given.length > 0 && given.join() !== dryRunQuery.join()) {
    throw badRequest(
      `Non-matching dry-run options in request and content: [${dryRunQuery.join(' ')}] and [${given.join(' ')}]`,
    );
  }
  return { ...options, dryRun: dryRunQuery };
}

/** Pods that do not run, and those already terminating, count for no budget. */
function isBeyondBudgets({ metadata, status }: KubeObject): boolean {
  const phase: string = status?.phase ?? '';
  return (
    metadata.deletionTimestamp !== undefined ||
    phase === 'Pending' ||
    phase === 'Succeeded' ||
    phase === 'Failed'
  );
}

/** Asks the pod's budget, and takes one disruption from it when the pod counts as healthy. */
function chargeBudget(backend: Backend, pod: KubeObject, request: DeleteRequest): void {
  const namespace = pod.metadata.namespace ?? '';
  const budgets = backend.store.collection('poddisruptionbudgets').list(namespace);
  const matching = budgets.filter((budget) => selects(budget, pod));
  const [budget] = matching;
  if (!budget) return;
  if (matching.length > 1) throw new ApiError(500, null, tooManyBudgetsMessage);
  if (!isReady(pod) && allowsUnhealthy(budget)) return;
  checkBudget(budget);
  const isDryRun = (request.dryRun ?? []).length > 0;
  if (!isDryRun) {
    const next = charged(budget, pod.metadata.name, formatTime(backend.clock.now()));
    const resource = storedResource('poddisruptionbudgets');
    writeNext(backend, resource, next, budget, { subresource: 'status' });
  }
}

function selects(budget: KubeObject, pod: KubeObject): boolean {
  const requirements = labelSelectorRequirements(budget.spec.selector);
  return requirements !== null && matchesLabels(requirements, pod.metadata.labels ?? {});
}

function isReady(pod: KubeObject): boolean {
  const conditions: readonly Condition[] = pod.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function allowsUnhealthy({ spec, status }: KubeObject): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function checkBudget(budget: KubeObject): void {
  const { name, generation = 0 } = budget.metadata;
  const {
    observedGeneration = 0,
    disruptionsAllowed = 0,
    disruptedPods = {},
  } = budget.status ?? {};
  if (observedGeneration < generation) {
    const text = `The disruption budget ${name} is still being processed by the server.`;
    throw evictionBlocked(text, retryAfterSeconds);
  }
  const refuse = (text: string) => forbidden(storedResource('poddisruptionbudgets'), name, text);
  if (disruptionsAllowed < 0) throw refuse('pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw evictionBlocked(whyBlocked(budget));
}

/** The first reason that fits. */
function whyBlocked({ metadata: { name }, status }: KubeObject): string {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const denied = conditions.find(
    (condition) => condition.type === 'DisruptionAllowed' && condition.status === 'False',
  );
  const base = `The disruption budget ${name} does not allow evicting pods currently`;
  if (denied?.reason === 'SyncFailed' && denied.message) {
    return `${base} because it failed sync: ${denied.message}`;
  }
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return denied?.message ? `${base} (${denied.reason}): ${denied.message}` : base;
}

/** The budget with one disruption less and the pod on its list. */
function charged(budget: KubeObject, podName: string, now: string): KubeObject {
  const { status } = budget;
  const disruptionsAllowed = status.disruptionsAllowed - 1;
  const disruptedPods = { ...status.disruptedPods, [podName]: now };
  const next = { ...status, disruptionsAllowed, disruptedPods };
  if (disruptionsAllowed > 0) return { ...budget, status: next };
  const exhausted = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: status.observedGeneration,
    lastTransitionTime: now,
    reason: 'InsufficientPods',
    message: '',
  };
  const others: readonly Condition[] = status.conditions ?? [];
  const conditions = [...others.filter(({ type }) => type !== exhausted.type), exhausted];
  return { ...budget, status: { ...next, conditions } };
}

/** Marks the pod as disrupted and deletes it; a dry run does neither. */
function deleteWithCondition(backend: Backend, pod: KubeObject, request: DeleteRequest): void {
  const pods = storedResource('pods');
  checkDeletePreconditions(pods, pod, request);
  const { name, namespace = '' } = pod.metadata;
  const { preconditions: _checked, ...options } = request;
  if ((request.dryRun ?? []).length === 0) {
    const now = formatTime(backend.clock.now());
    writeNext(backend, pods, disrupted(pod, now), pod, { subresource: 'status' });
  }
  deleteObject(backend, pods, { namespace, name }, options);
}

function disrupted(pod: KubeObject, now: string): KubeObject {
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const conditions: readonly (Condition & { readonly lastTransitionTime?: string })[] =
    pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === target.type);
  const lastTransitionTime = before?.status === 'True' ? before.lastTransitionTime : now;
  const next = { ...before, ...target, lastTransitionTime };
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: before
        ? conditions.map((condition) => (condition === before ? next : condition))
        : [...conditions, next],
    },
  };
}
