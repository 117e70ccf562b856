// The requests that list and watch, and the paths of the collections.
import { policyApiVersion } from '../kinds/kinds.ts';
import { type ApiRequest, getRequest, type Query } from './api-request.ts';

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
  /** The collection as it was at this resourceVersion; 410 once the API server has forgotten that. */
  readonly at?: string;
}

export interface WatchOptions extends Selectors {
  readonly resourceVersion: string;
  /** After which the server ends the stream by itself. */
  readonly timeoutSeconds: number;
}

/** The paths of the resources that are watched. */
export const nodesPath = '/api/v1/nodes';
export const podsPath = '/api/v1/pods';
export const namespacesPath = '/api/v1/namespaces';
export const nodeLeasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const daemonSetsPath = '/apis/apps/v1/daemonsets';

/** The path of all objects of one of our own kinds, by its plural. */
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
