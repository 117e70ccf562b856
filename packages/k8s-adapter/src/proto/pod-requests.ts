// The requests about pods: read, delete, evict, mark, write the status.
import type { PodRef } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import {
  type ApiRequest,
  getRequest,
  objectRequest,
  patchRequest,
  type Wanted,
} from './api-request.ts';

/** What a deletion or an eviction may carry. */
export interface RemovalOptions {
  /** Overrides the pod's own terminationGracePeriodSeconds. */
  readonly gracePeriodSeconds?: number;
  /** The server judges, and changes nothing. */
  readonly dryRun?: boolean;
  /** Mark pods otherwise than kube-controller-manager, which deletes a pod that has its very mark unasked. */
  readonly ownMark?: boolean;
}

export interface DeletionOptions extends RemovalOptions {
  /** How much of the pod is to be answered; left out: all of it. */
  readonly wanted?: Wanted;
  /** `uid` (when left out): this very pod or none; `name`: whatever pod has the name by then. */
  readonly guard?: 'uid' | 'name';
}

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
  lastProbeTime: null,
};
const ownMessage = 'taintmgr: deleting due to NoExecute taint';

/** Where a pod is. */
export function podPath(pod: PodRef): string {
  const namespace = encodeURIComponent(pod.namespace);
  return `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(pod.name)}`;
}

/** GET of one pod. */
export function getPodRequest(pod: PodRef): ApiRequest {
  return getRequest(podPath(pod));
}

/** GET of one PodDisruptionBudget. */
export function getBudgetRequest(namespace: string, name: string): ApiRequest {
  const path = `/apis/policy/v1/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets`;
  return getRequest(`${path}/${encodeURIComponent(name)}`);
}

/** DELETE of a pod. Guarded by its uid, another one of the same name is refused with 409. */
export function deletePodRequest(pod: PodRef, options: DeletionOptions = {}): ApiRequest {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...deleteOptions(pod, options) };
  return objectRequest('DELETE', podPath(pod), body, options.wanted);
}

/** POST that evicts this very pod, disruption budgets permitting. */
export function evictPodRequest(pod: PodRef, options: RemovalOptions = {}): ApiRequest {
  return objectRequest('POST', `${podPath(pod)}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod.name, namespace: pod.namespace },
    deleteOptions: deleteOptions(pod, options),
  });
}

/**
 * PATCH that sets the condition DisruptionTarget as kube-controller-manager does, or with a message of
 * our own. The order of the conditions is not given: that would take a read of the pod first.
 */
export function markDisruptedRequest(
  pod: PodRef,
  generation: number,
  now: Instant,
  options: DeletionOptions = {},
): ApiRequest {
  const path = `${podPath(pod)}/status${options.dryRun ? '?dryRun=All' : ''}`;
  const condition = {
    ...disruptionTarget,
    ...(options.ownMark && { message: ownMessage }),
    lastTransitionTime: formatTime(now),
    observedGeneration: generation,
  };
  const changes = {
    ...(options.guard !== 'name' && { metadata: { uid: pod.uid } }),
    status: { conditions: [condition] },
  };
  return patchRequest('strategicMerge', path, changes, options.wanted);
}

/** PATCH that takes the condition DisruptionTarget away, unless the pod has changed since it was read. */
export function unmarkDisruptedRequest(pod: PodRef, resourceVersion: string): ApiRequest {
  return patchRequest('strategicMerge', `${podPath(pod)}/status`, {
    metadata: { uid: pod.uid, resourceVersion },
    status: { conditions: [{ type: disruptionTarget.type, $patch: 'delete' }] },
  });
}

/** PUT of the status of a pod as a whole, refused with 409 when it has changed meanwhile. */
export function putPodStatusRequest(ref: PodRef, pod: object): ApiRequest {
  return objectRequest('PUT', `${podPath(ref)}/status`, pod);
}

function deleteOptions(pod: PodRef, options: DeletionOptions): object {
  return {
    ...(options.guard !== 'name' && { preconditions: { uid: pod.uid } }),
    ...(options.gracePeriodSeconds !== undefined && {
      gracePeriodSeconds: options.gracePeriodSeconds,
    }),
    ...(options.dryRun && { dryRun: ['All'] }),
  };
}
