// Which pods somebody is asked to move, and how far that is, by EvictionRequests and Evictions of lifecycle.k8s.io.
import type { EvictionRequest } from '@taintmgr/core/drain';
import { parseTime } from '@taintmgr/core/time';
import { asList, asRecord, asText, type JsonRecord } from '../proto/json.ts';
import { drainLabel } from './eviction-request.ts';

type Responder = NonNullable<EvictionRequest['responder']>;

/** The plural names in the discovery of lifecycle.k8s.io/v1alpha1. */
export function servedKinds(discovery: JsonRecord): ReadonlySet<string> {
  return new Set(asList(discovery.resources).map((one) => asText(asRecord(one).name)));
}

/** EvictionRequests, each with whoever has the turn by the Eviction of the same pod. */
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
    drain: asText(asRecord(labels)[drainLabel]) || null,
    failed: failed ? asText(failed.message) || asText(failed.reason) : null,
    createdAt: parseTime(asText(creationTimestamp)),
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
    heartbeatAt: parseTime(asText(heartbeatTime)) ?? parseTime(asText(startTime)),
    expectedAt: parseTime(asText(expectedCompletionTime)),
    message: asText(message),
  };
}

function podUidOf({ spec }: JsonRecord): string {
  return asText(asRecord(asRecord(asRecord(spec).target).pod).uid);
}
