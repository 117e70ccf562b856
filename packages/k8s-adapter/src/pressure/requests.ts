// The requests of the node pressure agent, as values.
import type { NodeCondition, NodeRef, PodRef } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type ApiRequest, getRequest, nodePath, patchRequest, podPath } from '../proto/requests.ts';

/** GET of the usage of a node and its pods, from its kubelet by way of the API server. */
export function summaryRequest(nodeName: string): ApiRequest {
  return getRequest(`${nodePath(nodeName)}/proxy/stats/summary`);
}

/**
 * PATCH that sets these conditions of this very node (another one of the name is refused with 422)
 * and leaves all others alone: the list is merged by type, so no change of others can be lost.
 */
export function setConditionsRequest(
  node: NodeRef,
  conditions: readonly NodeCondition[],
): ApiRequest {
  return patchRequest('strategicMerge', `${nodePath(node.name)}/status`, {
    metadata: { uid: node.uid },
    status: { conditions: conditions.map(conditionObject) },
  });
}

/** The fields that a PATCH of the status of a pod sets. */
export interface PodStatusChange {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly object[];
}

/**
 * PATCH of the status of this very pod, another one of the name is refused with 422. With a
 * `resourceVersion` it is refused with 409 when the pod has changed since it was read.
 */
export function setPodStatusRequest(
  pod: PodRef,
  resourceVersion: string | null,
  status: PodStatusChange,
): ApiRequest {
  const guard = { uid: pod.uid, ...(resourceVersion !== null && { resourceVersion }) };
  return patchRequest('strategicMerge', `${podPath(pod)}/status`, { metadata: guard, status });
}

/** The condition DisruptionTarget as a kubelet writes it when it evicts. */
export function disruptionTarget(
  reason: string,
  message: string,
  generation: number,
  now: Instant,
): object {
  const lastTransitionTime = formatTime(now);
  return {
    type: 'DisruptionTarget',
    status: 'True',
    reason,
    message,
    observedGeneration: generation,
    lastProbeTime: null,
    lastTransitionTime,
  };
}

function conditionObject({ type, status, reason, message, ...times }: NodeCondition): object {
  return {
    type,
    status,
    reason,
    message,
    ...(times.heartbeatAt !== null && { lastHeartbeatTime: formatTime(times.heartbeatAt) }),
    ...(times.transitionAt !== null && { lastTransitionTime: formatTime(times.transitionAt) }),
  };
}
