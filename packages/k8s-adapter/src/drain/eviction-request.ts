// The requests that find, make and take back EvictionRequests of lifecycle.k8s.io/v1alpha1 (alpha in Kubernetes 1.37).
import type { PodRef } from '@taintmgr/core';
import { type ApiRequest, objectRequest, withQuery } from '../proto/api-request.ts';

const apiVersion = 'lifecycle.k8s.io/v1alpha1';
/** On requests of ours: the uid of the NodeDrain that they are of. */
export const drainLabel: string = 'taintmgr.dev/nodedrain';
const requester = 'taintmgr.dev/node-drain';
const fieldManager = 'taintmgr-controller';

/** Asks what the cluster has of the group: whoever is known may ask that. */
export const lifecyclePath: string = `/apis/${apiVersion}`;

/** For a pod and a drain there is one: its name says which. */
export function createEvictionRequest(drainUid: string, pod: PodRef): ApiRequest {
  const { namespace, name, uid } = pod;
  return objectRequest('POST', withQuery(pathOf(namespace), { fieldManager }), {
    apiVersion,
    kind: 'EvictionRequest',
    metadata: {
      ...{ namespace, name: `drain-${drainUid}.${uid}` },
      labels: { [drainLabel]: drainUid },
    },
    spec: { target: { pod: { name, uid } }, requester, intent: 'Eviction' },
  });
}

/** Deleted, it counts as withdrawn. */
export function deleteEvictionRequest(namespace: string, name: string): ApiRequest {
  return objectRequest('DELETE', `${pathOf(namespace)}/${encodeURIComponent(name)}`, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
  });
}

function pathOf(namespace: string): string {
  return `${lifecyclePath}/namespaces/${encodeURIComponent(namespace)}/evictionrequests`;
}
