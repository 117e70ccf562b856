// An EvictionRequest of lifecycle.k8s.io: asks a pod's responders to move it.
import { formatDeadline, formatTime, type Instant, type Millis } from '../kernel/time.ts';

/**
 * After this time without a sign of life the next responder has its turn, as in Kubernetes 1.37.
 */
export const responderStaleMs: Millis = 20 * 60_000;

/** Owner of the requests of the taint eviction, in the place of the uid of a NodeDrain. */
export const taintEviction = 'taint-eviction';

/** By pods/eviction, as anybody could: Kubernetes appends it after all others. */
const defaultResponder = 'imperative-eviction.k8s.io/evictor';

/** The part of an EvictionRequest (KEP-4563) that decisions need. */
export interface EvictionRequest {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** spec.target.pod.uid. */
  readonly podUid: string;
  /** Who asks, such as acme.io/foo. */
  readonly requester: string;
  /** `Withdrawn`: the requester no longer wants the eviction. */
  readonly intent: 'Eviction' | 'Withdrawn';
  /** The uid of the NodeDrain that owns it, or `taintEviction`; null: another program owns it. */
  readonly drain: string | null;
  /** The reason why no responder works on it any more; null: not stated. */
  readonly failed: string | null;
  /** By the cluster's clock; null: it does not say. */
  readonly createdAt: Instant | null;
  /** The responder whose turn it is to move the pod; null: none, as far as the cluster says. */
  readonly responder: EvictionResponder | null;
}

/** Who moves a pod that is asked for, as its Eviction says. */
export interface EvictionResponder {
  /** Name of the responder. */
  readonly name: string;
  /** Its last sign of life, by the cluster's clock; null: it gave none. */
  readonly heartbeatAt: Instant | null;
  /** When it expects to be done; null: it does not say. */
  readonly expectedAt: Instant | null;
  /** Its words about its progress; '': none. */
  readonly message: string;
}

/** True when a responder works on it, or is about to, as far as the request says. */
export function isOpenRequest({ intent, failed }: EvictionRequest): boolean {
  return intent === 'Eviction' && failed === null;
}

/**
 * The time until which a responder counts as moving the pod, if no further sign of life comes;
 * `seenAt`: since when the request is unchanged, for those that do not say. Null: only
 * pods/eviction moves it.
 */
export function movingUntil(request: EvictionRequest, seenAt: Instant): Instant | null {
  const { responder, createdAt } = request;
  if (!isOpenRequest(request) || responder?.name === defaultResponder) return null;
  const since = responder ? responder.heartbeatAt : createdAt;
  return (since ?? seenAt) + responderStaleMs;
}

/** Describes a request: the requester, the responder, and its progress. */
export function describeEvictionRequest({
  requester,
  name,
  responder,
  failed,
}: EvictionRequest): string {
  const asked = `${requester} has requested its eviction (EvictionRequest ${name})`;
  if (failed !== null) return `${asked}, and no controller could move it: ${failed}`;
  if (!responder) return `${asked}; no controller has answered yet`;
  const { heartbeatAt, expectedAt, message } = responder;
  const said = [
    ...(message === '' ? [] : [message]),
    heartbeatAt === null ? 'no sign of life yet' : `last heard of at ${formatTime(heartbeatAt)}`,
    ...(expectedAt === null ? [] : [`expects to be done by ${formatDeadline(expectedAt)}`]),
  ];
  return `${asked}; ${responder.name} answers: ${said.join(', ')}`;
}
