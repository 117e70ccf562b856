// The requests about nodes and pods, and those that list and watch.
import type { PodRef } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import {
  type ApiRequest,
  getRequest,
  objectRequest,
  patchRequest,
  type Query,
  withQuery,
} from './api-request.ts';

/** Narrows a list or a watch on the server's side, in kubectl's own syntax. */
export interface Selectors {
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** One page of a list. */
export interface ListOptions extends Selectors {
  /** Objects per page; left out: all at once. */
  readonly limit?: number;
  /** `metadata.continue` of the page before; '' or left out: the first page. */
  readonly continueToken?: string;
}

export interface WatchOptions extends Selectors {
  readonly resourceVersion: string;
  /** After which the server ends the stream by itself. */
  readonly timeoutSeconds: number;
}

/** What a deletion or an eviction may carry. */
export interface RemovalOptions {
  /** Overrides the pod's own terminationGracePeriodSeconds. */
  readonly gracePeriodSeconds?: number;
  /** The server judges, and changes nothing. */
  readonly dryRun?: boolean;
}

export interface DeletionOptions extends RemovalOptions {
  /** `uid` (when left out): this very pod or none; `name`: whatever pod has the name by then. */
  readonly guard?: 'uid' | 'name';
}

/** spec.taints[] as the API spells it; unknown fields stay. */
export interface TaintObject {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

/** The paths of the resources that are watched. */
export const nodesPath = '/api/v1/nodes';
export const podsPath = '/api/v1/pods';
export const nodeLeasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const daemonSetsPath = '/apis/apps/v1/daemonsets';

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
  lastProbeTime: null,
};

/** GET of one page of the collection at `path`. */
export function listRequest(path: string, options: ListOptions = {}): ApiRequest {
  return getRequest(path, {
    ...selectorQuery(options),
    limit: options.limit,
    continue: options.continueToken || undefined,
  });
}

/** GET that streams the changes of the collection at `path` from a resourceVersion on. */
export function watchRequest(path: string, options: WatchOptions): ApiRequest {
  return getRequest(path, {
    ...selectorQuery(options),
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: options.resourceVersion,
    timeoutSeconds: options.timeoutSeconds,
  });
}

/**
 * GET that streams everything in the collection at `path`, as of now or later, and then its changes
 * (WatchList). The server ends it after `timeoutSeconds`; one that cannot do it says 422.
 */
export function listStreamRequest(
  path: string,
  selectors: Selectors,
  timeoutSeconds: number,
): ApiRequest {
  return getRequest(path, {
    ...selectorQuery(selectors),
    watch: 'true',
    allowWatchBookmarks: 'true',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    timeoutSeconds,
  });
}

/** GET of one node; `cached`: as the API server's cache has it, which may be a little behind. */
export function getNodeRequest(name: string, cached = false): ApiRequest {
  return getRequest(nodePath(name), cached ? { resourceVersion: '0' } : {});
}

/** GET of the lease of one node. */
export function getNodeLeaseRequest(nodeName: string): ApiRequest {
  return getRequest(`${nodeLeasesPath}/${encodeURIComponent(nodeName)}`);
}

/** GET of one pod. */
export function getPodRequest(pod: PodRef): ApiRequest {
  return getRequest(podPath(pod));
}

/** DELETE of a pod. Guarded by its uid, another one of the same name is refused with 409. */
export function deletePodRequest(pod: PodRef, options: DeletionOptions = {}): ApiRequest {
  return objectRequest('DELETE', podPath(pod), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...deleteOptions(pod, options),
  });
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
 * PATCH that sets or (null) removes one annotation of this very node, as that field manager:
 * another one of the name is refused with 422.
 */
export function annotateNodeRequest(
  node: { readonly name: string; readonly uid: string },
  annotation: string,
  value: string | null,
  fieldManager: string,
): ApiRequest {
  const path = withQuery(nodePath(node.name), { fieldManager });
  return patchRequest('merge', path, {
    metadata: { uid: node.uid, annotations: { [annotation]: value } },
  });
}

/**
 * PATCH that sets the condition DisruptionTarget as kube-controller-manager does. The order of the
 * conditions is not given: that would take a read of the pod first.
 */
export function markDisruptedRequest(
  pod: PodRef,
  generation: number,
  now: Instant,
  options: DeletionOptions = {},
): ApiRequest {
  const path = withQuery(`${podPath(pod)}/status`, { dryRun: options.dryRun ? 'All' : undefined });
  const condition = {
    ...disruptionTarget,
    lastTransitionTime: formatTime(now),
    observedGeneration: generation,
  };
  return patchRequest('strategicMerge', path, {
    ...(options.guard !== 'name' && { metadata: { uid: pod.uid } }),
    status: { conditions: [condition] },
  });
}

/**
 * PATCH that replaces the node's taints as a whole, refused with 409 when the node is no longer at
 * `resourceVersion`: the list has no merge key, so a partial one would lose taints.
 */
export function setTaintsRequest(
  nodeName: string,
  resourceVersion: string,
  taints: readonly TaintObject[],
  annotations: Readonly<Record<string, string | null>> = {},
): ApiRequest {
  const isNoted = Object.keys(annotations).length > 0;
  return patchRequest('strategicMerge', nodePath(nodeName), {
    metadata: { ...(isNoted && { annotations }), resourceVersion },
    spec: { taints: taints.length === 0 ? null : taints },
  });
}

/** PATCH that sets labels of a node; others stay. */
export function setLabelsRequest(
  nodeName: string,
  labels: Readonly<Record<string, string>>,
): ApiRequest {
  return patchRequest('strategicMerge', nodePath(nodeName), {
    metadata: { labels },
  });
}

/** PUT of the status of a node as a whole, refused with 409 when it has changed meanwhile. */
export function putNodeStatusRequest(name: string, node: object): ApiRequest {
  return objectRequest('PUT', `${nodePath(name)}/status`, node);
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

/** Where a node is. */
export function nodePath(name: string): string {
  return `${nodesPath}/${encodeURIComponent(name)}`;
}

/** Where a pod is. */
export function podPath(pod: PodRef): string {
  const [namespace, name] = [encodeURIComponent(pod.namespace), encodeURIComponent(pod.name)];
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

function selectorQuery({ fieldSelector, labelSelector }: Selectors): Query {
  return { fieldSelector, labelSelector };
}
