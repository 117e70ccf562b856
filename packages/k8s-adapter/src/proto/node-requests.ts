// The requests about nodes: read, annotate, taint, label, write the status.
import {
  type ApiRequest,
  getRequest,
  objectRequest,
  patchRequest,
  withQuery,
} from './api-request.ts';
import { isRecord } from './json.ts';
import { nodeLeasesPath, nodesPath } from './list-requests.ts';

/** spec.taints[] as the API spells it; unknown fields stay. */
export interface TaintObject {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
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
