// Requests to the API server as values: of any kind, lists and watches, nodes, pods, TaintManagers.

import type { PodRef } from '@taintmgr/core';
import { formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import { policyApiVersion } from '../kinds/kinds.ts';
import { isRecord } from './json.ts';

/** An HTTP request as a value; credentials and the server's address are the transport's. */
export interface ApiRequest {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its query, encoded, as in the request line: `/api/v1/nodes?limit=500`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text; null: none. */
  readonly body: string | null;
  /**
   * The value that `body` is the JSON of, for a server in the same process, which needs no text.
   * Left out: there is no body, or it was text from the start. A sender of another body leaves it
   * out.
   */
  readonly bodyValue?: object;
  /** Another server than the API's, that the path is of; it is sent no credentials. */
  readonly elsewhere?: Elsewhere;
}

/** True if the request is a watch, whose answer does not end. */
export function isWatch({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
  return method === 'GET' && /[?&]watch=(true|1)(&|$)/.test(path);
}

/** The server behind the API server answers, and dates, such a request: a kubelet. */
export function isProxied({ path }: Pick<ApiRequest, 'path'>): boolean {
  return path.includes('/proxy/');
}

/** A server that is not the cluster's. */
export interface Elsewhere {
  /** `http://prometheus.monitoring:9090`, and the path before that of requests, if any. */
  readonly url: string;
  /** The time limit of the request, in milliseconds. */
  readonly timeoutMs: Millis;
}

/** A request to send, or to hang up. Its answers come back under its id. */
export type RequestEffect =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string };

/** The parameters after the `?`; undefined is left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

const contentTypes = {
  json: 'application/json',
  merge: 'application/merge-patch+json',
  jsonPatch: 'application/json-patch+json',
  strategicMerge: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** GET of JSON. */
export function getRequest(path: string, query: Query = {}): ApiRequest {
  return { method: 'GET', path: withQuery(path, query), headers: getHeaders, body: null };
}

/**
 * The form that the metadata client of client-go asks for: only the metadata of the object, in
 * protobuf where the server has it. A failure is a Status in JSON.
 */
const partly = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataOnly = [
  `application/vnd.kubernetes.protobuf${partly}`,
  `${contentTypes.json}${partly}`,
  contentTypes.json,
].join(',');

type Content = keyof typeof contentTypes;
type Headers = ApiRequest['headers'];

/** Made once: requests with the same headers have the same object of them. */
const getHeaders: Headers = { accept: contentTypes.json };
const bodyHeaders: Readonly<Record<Content, Readonly<Record<Wanted, Headers>>>> = {
  json: headersOf('json'),
  merge: headersOf('merge'),
  jsonPatch: headersOf('jsonPatch'),
  strategicMerge: headersOf('strategicMerge'),
  apply: headersOf('apply'),
};

function headersOf(content: Content): Readonly<Record<Wanted, Headers>> {
  const object = { ...getHeaders, 'content-type': contentTypes[content] };
  return { object, metadata: { ...object, accept: metadataOnly } };
}

/**
 * The part of the object to answer. `metadata`: no more is read where all went well, and it is less
 * for both sides to write and send.
 */
export type Wanted = 'object' | 'metadata';

/** POST, PUT or DELETE with an object. */
export function objectRequest(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body: object,
  wanted: Wanted = 'object',
): ApiRequest {
  return withBody(method, path, 'json', body, wanted);
}

/** PATCH with the changes. */
export function patchRequest(
  kind: 'merge' | 'strategicMerge',
  path: string,
  changes: object,
  wanted: Wanted = 'object',
): ApiRequest {
  return withBody('PATCH', path, kind, changes, wanted);
}

/** PATCH by a JSON patch that puts one member of the object in the place of what stands there. */
export function replaceRequest(path: string, pointer: string, value: unknown): ApiRequest {
  return withBody('PATCH', path, 'jsonPatch', [{ op: 'add', path: pointer, value }]);
}

/** The same only for the object of this uid; what another has in its place is left alone: 422. */
export function replaceOfRequest(
  path: string,
  uid: string,
  pointer: string,
  value: unknown,
): ApiRequest {
  const test = { op: 'test', path: '/metadata/uid', value: uid };
  return withBody('PATCH', path, 'jsonPatch', [test, { op: 'add', path: pointer, value }]);
}

/** The behaviour of server-side apply. */
export interface ApplyOptions {
  /** The owner that the fields get. */
  readonly fieldManager: string;
  /** Take fields from others who own them; else they are a conflict, 409. */
  readonly force: boolean;
  /** True: the API server checks the request and changes nothing. */
  readonly dryRun: boolean;
}

/** PATCH by server-side apply: the object is made, or made to have these fields. */
export function applyRequest(path: string, object: object, options: ApplyOptions): ApiRequest {
  const { fieldManager, force, dryRun } = options;
  const query = { fieldManager, force: String(force), dryRun: dryRun ? 'All' : undefined };
  return withBody('PATCH', withQuery(path, query), 'apply', object);
}

/** The path with a query. */
export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return pairs.length > 0 ? `${path}?${pairs.join('&')}` : path;
}

/** The text at once, though a server in the same process has no use for it: to write it later took three times as long. */
function withBody(
  method: ApiRequest['method'],
  path: string,
  content: Content,
  bodyValue: object,
  wanted: Wanted = 'object',
): ApiRequest {
  const headers = bodyHeaders[content][wanted];
  return { method, path, headers, body: JSON.stringify(bodyValue), bodyValue };
}

/** Narrows a list or a watch on the server's side, in kubectl's own syntax. */
export interface Selectors {
  /** Such as `spec.nodeName=n1`; left out: all. */
  readonly fieldSelector?: string;
  /** Such as `app=web,tier!=cache`; left out: all. */
  readonly labelSelector?: string;
}

/** One page of a list. */
export interface ListOptions extends Selectors {
  /** Objects per page; left out: all at once. */
  readonly limit?: number;
  /** `metadata.continue` of the page before; '' or left out: the first page. */
  readonly continueToken?: string;
  /** The collection as it was at this resourceVersion; 410 once the API server has forgotten that. */
  readonly at?: string;
}

export interface WatchOptions extends Selectors {
  readonly resourceVersion: string;
  /** After which the server ends the stream by itself. */
  readonly timeoutSeconds: number;
}

/** The path of all nodes. */
export const nodesPath = '/api/v1/nodes';
/** The path of all pods. */
export const podsPath = '/api/v1/pods';
export const namespacesPath = '/api/v1/namespaces';
export const nodeLeasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const daemonSetsPath = '/apis/apps/v1/daemonsets';

/** The path of all objects of one of our kinds, by its plural. */
export function policiesPath(plural: string): string {
  return `/apis/${policyApiVersion}/${plural}`;
}

/** GET of one page of the collection at `path`. */
export function listRequest(path: string, options: ListOptions = {}): ApiRequest {
  return getRequest(path, {
    ...selectorQuery(options),
    limit: options.limit,
    continue: options.continueToken || undefined,
    ...(options.at !== undefined && { resourceVersion: options.at, resourceVersionMatch: 'Exact' }),
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

function selectorQuery({ fieldSelector, labelSelector }: Selectors): Query {
  return { fieldSelector, labelSelector };
}

/** spec.taints[] as the API spells it; unknown fields stay. */
export interface TaintObject {
  /** Such as `node.kubernetes.io/unreachable`. */
  readonly key: string;
  /** Left out: ''. */
  readonly value?: string;
  /** `NoSchedule`, `PreferNoSchedule` or `NoExecute`. */
  readonly effect: string;
  /** When the taint was added, RFC 3339. */
  readonly timeAdded?: string;
}

/** Tells whether a value of spec.taints[] is a taint. */
export function isTaintObject(value: unknown): value is TaintObject {
  return isRecord(value) && typeof value.key === 'string' && typeof value.effect === 'string';
}

/** Where a node is. */
export function nodePath(name: string): string {
  return `${nodesPath}/${encodeURIComponent(name)}`;
}

/** GET of one node; `cached`: as the API server's cache has it, which may be a little behind. */
export function getNodeRequest(name: string, cached = false): ApiRequest {
  return getRequest(nodePath(name), cached ? { resourceVersion: '0' } : {});
}

/** GET of the lease of one node. */
export function getNodeLeaseRequest(nodeName: string): ApiRequest {
  return getRequest(`${nodeLeasesPath}/${encodeURIComponent(nodeName)}`);
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

/** PATCH of some conditions of this very node; others stay. */
export function patchConditionsRequest(
  { name, uid }: { readonly name: string; readonly uid: string },
  conditions: readonly object[],
  fieldManager: string,
): ApiRequest {
  const path = withQuery(`${nodePath(name)}/status`, { fieldManager });
  return patchRequest('strategicMerge', path, { metadata: { uid }, status: { conditions } });
}

/** PUT of the status of a node as a whole, refused with 409 when it has changed meanwhile. */
export function putNodeStatusRequest(name: string, node: object): ApiRequest {
  return objectRequest('PUT', `${nodePath(name)}/status`, node);
}

/** The options that a deletion or an eviction may carry. */
export interface RemovalOptions {
  /** Overrides the pod's own terminationGracePeriodSeconds. */
  readonly gracePeriodSeconds?: number;
  /** The server judges, and changes nothing. */
  readonly dryRun?: boolean;
  /**
   * Mark pods in another way than kube-controller-manager, which deletes a pod that has its very
   * mark unasked.
   */
  readonly ownMark?: boolean;
}

/** The choices of a deletion of a pod. */
export interface DeletionOptions extends RemovalOptions {
  /** The part of the pod to answer; left out: all of it. */
  readonly wanted?: Wanted;
  /** `uid` (when left out): this very pod or none; `name`: whatever pod has the name by then. */
  readonly guard?: 'uid' | 'name';
  /** True if it goes for a taint of a device; left out: of its node. */
  readonly forDevice?: boolean;
}

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
  lastProbeTime: null,
};
const deviceTarget = {
  reason: 'DeletionByDeviceTaintManager',
  message: 'Device Taint manager: deleting due to NoExecute taint',
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
 * PATCH that sets the condition DisruptionTarget as kube-controller-manager does, or with our own
 * message. The order of the conditions is not given: that would take a read of the pod first.
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
    ...(options.forDevice && deviceTarget),
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

/** The path of all TaintManagers. */
export const taintManagersPath = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

/** The owner of the fields of a status. */
const fieldManager = 'taintmgr-controller';

/** POST of a TaintManager without content: a created object has no status. */
export function createTaintManagerRequest(name: string): ApiRequest {
  return objectRequest('POST', withQuery(taintManagersPath, { fieldManager }), {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'TaintManager',
    metadata: { name },
  });
}

/** PATCH that puts this status in the place of the whole one before, regardless of its writer. */
export function replaceTaintManagerStatusRequest(name: string, status: unknown): ApiRequest {
  const path = `${taintManagersPath}/${encodeURIComponent(name)}/status`;
  return replaceRequest(withQuery(path, { fieldManager }), '/status', status);
}
