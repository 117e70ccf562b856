// Asks the API server whether it would take the mark of an eviction, and from whom.
import { setTimeout } from 'node:timers/promises';
import type { Instant, Millis } from '@taintmgr/core/time';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import type { PodName } from '../../cluster/scratch.ts';
import { markRequest } from './requests.ts';

/** What the API server says to the mark of a pod. */
export type MarkAnswer =
  /** The policy refuses it: kube-controller-manager would not go on. */
  | { readonly kind: 'refused'; readonly message: string }
  /** It would be stored: kube-controller-manager would delete the pod. */
  | { readonly kind: 'taken' }
  /** Somebody else has something against it; nothing is known. */
  | { readonly kind: 'failed'; readonly message: string; readonly status: number | null };

const byPolicy = "ValidatingAdmissionPolicy 'taintmgr-takeover'";

/** By a server-side dry run of the very patch; `as`: as somebody else. */
export async function askToMark(
  client: ApiClient,
  pod: PodName,
  at: Instant,
  as?: string,
): Promise<MarkAnswer> {
  try {
    await client.send(markRequest(pod, at, as === undefined ? {} : { as }));
    return { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, status } = error.failure;
    return message.includes(byPolicy)
      ? { kind: 'refused', message }
      : { kind: 'failed', message, status };
  }
}

const lookEveryMs: Millis = 200;

/**
 * The answer as soon as the mark is refused, or the last one when the time is over: policies and
 * labels act some time after they were written.
 */
export async function untilRefused(
  client: ApiClient,
  pod: PodName,
  at: () => Instant,
  timeout: Millis,
  as?: string,
): Promise<MarkAnswer> {
  const end = performance.now() + timeout;
  for (;;) {
    const answer = await askToMark(client, pod, at(), as);
    if (answer.kind !== 'taken' || performance.now() >= end) return answer;
    await setTimeout(lookEveryMs);
  }
}
