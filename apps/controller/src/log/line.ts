import type { Outcome, PodRef } from '@taintmgr/core';
import { formatDuration, type Millis } from '@taintmgr/core/time';

/** A log line before it is written. */
export interface Line {
  readonly level: 'debug' | 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** A line of these parts. */
export function line(level: Line['level'], message: string, fields: Line['fields']): Line {
  return { level, message, fields };
}

/** A short wait, exact to the tenth of a second. */
export function formatWait(length: Millis): string {
  return length < 10_000 ? `${(Math.max(0, length) / 1000).toFixed(1)}s` : formatDuration(length);
}

/** A pod, as it is named here. */
export type NamedPod = Pick<PodRef, 'namespace' | 'name' | 'nodeName'>;

/** Which pod, and where. */
export function podFields(pod: NamedPod): Line['fields'] {
  return { pod: `${pod.namespace}/${pod.name}`, node: pod.nodeName };
}

/** What went wrong with a request, in words. */
export function errorOf(outcome: Outcome): string {
  return 'message' in outcome ? outcome.message : outcome.kind;
}
