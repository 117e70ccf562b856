// What is told of a pod whose eviction an admission webhook keeps for itself. Without an Event nobody but
// the log would know of it: no object of the cluster says what a webhook answers.
import { blockerOf } from '../attempt/blocker.ts';
import type { Setback } from '../attempt/outcome.ts';
import type { RecordPodEvent } from '../attempt/pod-command.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { Reason } from './reason.ts';

/** The reason of these Events. */
export const interceptedReason = 'EvictionIntercepted';
/** Between a pod's name and the API server's sentence. */
const interceptedWords = 'may be moved by somebody else: ';
/** So often it is told again while it lasts: Events are kept for an hour. */
export const interceptionRepeatMs: Millis = 300_000;

/** What was told last, and when. */
export interface Interception {
  /** The API server's sentence, with the words of the webhook. */
  readonly message: string;
  readonly at: Instant;
}

/** The API server's sentence in such an Event; null: it is no such Event. */
export function interceptionIn(reason: string, message: string): string | null {
  const at = message.indexOf(interceptedWords);
  return reason === interceptedReason && at >= 0
    ? message.slice(at + interceptedWords.length)
    : null;
}

/** What there is to tell of a setback; null: no webhook keeps the pod, or that was told of late. */
export function interceptionNews(
  now: Instant,
  last: Interception | undefined,
  setback: Setback,
): Interception | null {
  const { code, message } = blockerOf(setback);
  if (code !== 'Intercepted') return null;
  const isKnown = last?.message === message && now - last.at < interceptionRepeatMs;
  return isKnown ? null : { message, at: now };
}

/** The Event of a pod that a webhook keeps for itself. */
export function interceptionEvent(
  pod: Pod,
  { message: said }: Interception,
): RecordPodEvent<Reason> {
  const message = `Pod ${pod.namespace}/${pod.name} ${interceptedWords}${said}`;
  const event = { reason: interceptedReason, message, because: [] } as const;
  return { kind: 'recordEvent', pod: podRef(pod), type: 'Warning', ...event };
}
