// Lists EvictionRequests for a NodeDrain or for the taint eviction, makes their own, and takes them back.
import type { Command, Event, Outcome, PodRef } from '@taintmgr/core';
import { type EvictionRequest, taintEviction } from '@taintmgr/core/drain';
import { answerValue, type Failure, failureOf, isMissing, succeeded } from '../../proto/answer.ts';
import { asList, asRecord, asText, type JsonRecord } from '../../proto/json.ts';
import { type ApiRequest, getRequest, objectRequest, withQuery } from '../../proto/requests.ts';
import { timeFromJson } from '../../proto/taint-starts.ts';
import { call, done, failedBy, readPages, type Steps, type Task } from '../task.ts';

type ReadRequests = Extract<Command, { kind: 'readEvictionRequests' }>;
type WriteRequest = Extract<Command, { kind: 'writeEvictionRequest' }>;

export type EvictionRequestNotice =
  /** The requests there are; the machine hears of it too. */
  | Extract<Event, { kind: 'evictionRequests' }>
  | {
      readonly kind: 'evictionRequestWritten';
      readonly command: WriteRequest;
      readonly outcome: Outcome;
    };

/** All that is read of the cluster. */
interface Listed {
  isServed: boolean;
  requests: unknown[];
  readonly evictions: unknown[];
}

export function evictionRequestsReading({ id, drain }: ReadRequests): Task<EvictionRequestNotice> {
  const listed: Listed = { isServed: true, requests: [], evictions: [] };
  return {
    ...{ kind: 'task', id, steps: readRequests(listed) },
    ended: (outcome) => {
      if (outcome.kind !== 'done') return null;
      const requests = evictionRequestsFrom(listed.requests, listed.evictions);
      return { kind: 'evictionRequests', drain, isServed: listed.isServed, requests };
    },
  };
}

/** Asks first whether there are any: then page by page who asks, and who answers. */
function* readRequests(listed: Listed): Steps {
  const { answer } = yield* call(getRequest(lifecyclePath));
  if (!succeeded(answer)) return notServed(listed, failureOf(answer));
  const kinds = servedKinds(asRecord(answerValue(answer)));
  listed.isServed = kinds.has('evictionrequests');
  if (!listed.isServed) return done;
  const refused = yield* readPages(`${lifecyclePath}/evictionrequests`, ({ items }) => {
    for (const item of asList(items)) listed.requests.push(item);
  });
  if (refused) return notServed(listed, refused);
  if (!kinds.has('evictions') || listed.requests.length === 0) return done;
  const failure = yield* readPages(`${lifecyclePath}/evictions`, ({ items }) => {
    for (const item of asList(items)) listed.evictions.push(item);
  });
  // The identity of the responder is worth knowing, and not needed.
  return !failure || [403, 404].includes(failure.status ?? 0) ? done : failedBy(failure);
}

function notServed(listed: Listed, failure: Failure): Outcome {
  if (failure.status !== 404) return failedBy(failure);
  listed.isServed = false;
  listed.requests = [];
  return done;
}

/** An existing request is known by its name; a missing one counts as taken back. */
export function evictionRequestWriting(command: WriteRequest): Task<EvictionRequestNotice> {
  return {
    ...{ kind: 'task', id: command.id, steps: writeRequest(command) },
    ended: (outcome) => ({ kind: 'evictionRequestWritten', command, outcome }),
  };
}

function* writeRequest({ uid, write }: WriteRequest): Steps {
  const request =
    write.kind === 'create'
      ? createEvictionRequest(uid, write.pod)
      : deleteEvictionRequest(write.namespace, write.name);
  const { answer } = yield* call(request);
  if (succeeded(answer)) return done;
  const failure = failureOf(answer);
  const isSo = write.kind === 'create' ? failure.reason === 'AlreadyExists' : isMissing(failure);
  return isSo ? done : failedBy(failure);
}

type Responder = NonNullable<EvictionRequest['responder']>;

/** The plural names in the discovery of lifecycle.k8s.io/v1alpha1. */
function servedKinds(discovery: JsonRecord): ReadonlySet<string> {
  return new Set(asList(discovery.resources).map((one) => asText(asRecord(one).name)));
}

/** EvictionRequests, each with the responder that has the turn by the Eviction of the same pod. */
export function evictionRequestsFrom(
  requests: readonly unknown[],
  evictions: readonly unknown[],
): readonly EvictionRequest[] {
  const responders = new Map(
    evictions.map(asRecord).flatMap((eviction) => {
      const responder = responderOf(asRecord(eviction.status));
      return responder ? [[podUidOf(eviction), responder] as const] : [];
    }),
  );
  return requests.map(asRecord).map((one) => {
    const request = requestFrom(one);
    return { ...request, responder: responders.get(request.podUid) ?? null };
  });
}

function requestFrom(object: JsonRecord): Omit<EvictionRequest, 'responder'> {
  const { metadata, spec, status } = object;
  const { namespace, name, labels, creationTimestamp } = asRecord(metadata);
  const { requester, intent } = asRecord(spec);
  const conditions = asList(asRecord(status).conditions).map(asRecord);
  const failed = conditions.find((one) => one.type === 'Failed' && one.status === 'True');
  return {
    namespace: asText(namespace),
    name: asText(name),
    podUid: podUidOf(object),
    requester: asText(requester),
    intent: intent === 'Withdrawn' ? 'Withdrawn' : 'Eviction',
    drain: ownerOf(asRecord(labels)),
    failed: failed ? asText(failed.message) || asText(failed.reason) : null,
    createdAt: timeFromJson(creationTimestamp),
  };
}

/** At most one of them is active. */
function responderOf({ targetResponders, responders }: JsonRecord): Responder | null {
  const active = asList(targetResponders)
    .map(asRecord)
    .find(({ state }) => state === 'Active');
  if (!active) return null;
  const name = asText(active.name);
  const said = asList(responders)
    .map(asRecord)
    .find((one) => one.name === name);
  const { heartbeatTime, startTime, expectedCompletionTime, message } = said ?? {};
  return {
    name,
    heartbeatAt: timeFromJson(heartbeatTime) ?? timeFromJson(startTime),
    expectedAt: timeFromJson(expectedCompletionTime),
    message: asText(message),
  };
}

function podUidOf({ spec }: JsonRecord): string {
  return asText(asRecord(asRecord(asRecord(spec).target).pod).uid);
}

const apiVersion = 'lifecycle.k8s.io/v1alpha1';
/** On requests of ours: the uid of the NodeDrain that they are of, or that they are of the taint eviction. */
const drainLabel: string = 'taintmgr.dev/nodedrain';
const taintLabel: string = 'taintmgr.dev/taint-eviction';
const fieldManager = 'taintmgr-controller';

/** The path that lists the resources of lifecycle.k8s.io; every authenticated user may read it. */
export const lifecyclePath: string = `/apis/${apiVersion}`;

function ownerOf(labels: JsonRecord): string | null {
  if (asText(labels[taintLabel]) === 'true') return taintEviction;
  return asText(labels[drainLabel]) || null;
}

/** For a pod and a drain there is one, and one for a pod and its taints: its name says which. */
function createEvictionRequest(owner: string, pod: PodRef): ApiRequest {
  const { namespace, name, uid } = pod;
  const isOfTaints = owner === taintEviction;
  const requester = isOfTaints ? 'taintmgr.dev/taint-eviction' : 'taintmgr.dev/node-drain';
  return objectRequest('POST', withQuery(pathOf(namespace), { fieldManager }), {
    apiVersion,
    kind: 'EvictionRequest',
    metadata: {
      ...{ namespace, name: isOfTaints ? `taint.${uid}` : `drain-${owner}.${uid}` },
      labels: isOfTaints ? { [taintLabel]: 'true' } : { [drainLabel]: owner },
    },
    spec: { target: { pod: { name, uid } }, requester, intent: 'Eviction' },
  });
}

/** DELETE of an EvictionRequest, which withdraws it. */
export function deleteEvictionRequest(namespace: string, name: string): ApiRequest {
  return objectRequest('DELETE', `${pathOf(namespace)}/${encodeURIComponent(name)}`, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
  });
}

function pathOf(namespace: string): string {
  return `${lifecyclePath}/namespaces/${encodeURIComponent(namespace)}/evictionrequests`;
}
