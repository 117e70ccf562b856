// EvictionRequests of lifecycle.k8s.io/v1alpha1 (alpha in Kubernetes 1.37): how ours are written, and all are read.
import type { PodRef } from '@taintmgr/core';
import type { EvictionRequest } from '@taintmgr/core/drain';
import { type ApiRequest, getRequest, objectRequest, withQuery } from '../proto/api-request.ts';
import { asList, asRecord, asText, type JsonRecord } from '../proto/json.ts';

const apiVersion = 'lifecycle.k8s.io/v1alpha1';
/** On requests of ours: the uid of the NodeDrain that they are of. */
const drainLabel = 'taintmgr.dev/nodedrain';
const requesterName = 'taintmgr.dev/node-drain';
const fieldManager = 'taintmgr-controller';
const pageSize = 500;

/** A page of all of them, in all namespaces. */
export function listEvictionRequests(token = ''): ApiRequest {
  const query = { limit: pageSize, ...(token !== '' && { continue: token }) };
  return getRequest(`/apis/${apiVersion}/evictionrequests`, query);
}

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
    spec: { target: { pod: { name, uid } }, requesterName, intent: 'Eviction' },
  });
}

/** Deleted, it counts as withdrawn. */
export function deleteEvictionRequest(namespace: string, name: string): ApiRequest {
  return objectRequest('DELETE', `${pathOf(namespace)}/${encodeURIComponent(name)}`, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
  });
}

export function evictionRequestsOf({ items }: JsonRecord): readonly EvictionRequest[] {
  return asList(items).map((item) => evictionRequestFrom(asRecord(item)));
}

function evictionRequestFrom({ metadata, spec, status }: JsonRecord): EvictionRequest {
  const { namespace, name, labels } = asRecord(metadata);
  const { target, requesterName: requester, intent } = asRecord(spec);
  const conditions = asList(asRecord(status).conditions).map(asRecord);
  const failed = conditions.find((one) => one.type === 'Failed' && one.status === 'True');
  return {
    namespace: asText(namespace),
    name: asText(name),
    podUid: asText(asRecord(asRecord(target).pod).uid),
    requester: asText(requester),
    intent: intent === 'Withdrawn' ? 'Withdrawn' : 'Eviction',
    drain: asText(asRecord(labels)[drainLabel]) || null,
    failed: failed ? asText(failed.message) || asText(failed.reason) : null,
  };
}

function pathOf(namespace: string): string {
  return `/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/evictionrequests`;
}
