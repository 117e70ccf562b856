import type { Outcome, PodRef } from '@taintmgr/core';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Fields, Known } from './keys.ts';

/** A log line before it is written. */
export interface Line {
  readonly level: 'debug' | 'info' | 'warn';
  readonly message: string;
  readonly fields: Fields;
}

/** A line of these parts. */
export function line<F extends Fields & Known<F>>(
  level: Line['level'],
  message: string,
  fields: F,
): Line {
  return { level, message, fields };
}

/** Fields for a line to come, some of which may be left out: a type alone lets others slip in by a spread. */
export function fieldsOf<F extends Fields & Known<F>>(fields: F): Fields {
  return fields;
}

/** A short wait, exact to the tenth of a second. */
export function formatWait(length: Millis): string {
  return length < 10_000 ? `${(Math.max(0, length) / 1000).toFixed(1)}s` : formatDuration(length);
}

/** A pod, as it is named here. */
export type NamedPod = Pick<PodRef, 'namespace' | 'name' | 'nodeName'>;

/** Which pod, and where. */
export function podFields(pod: NamedPod): Readonly<Record<'pod' | 'node', string>> {
  return { pod: `${pod.namespace}/${pod.name}`, node: pod.nodeName };
}

/** What went wrong with a request, in words. */
export function errorOf(outcome: Outcome): string {
  return 'message' in outcome ? outcome.message : outcome.kind;
}

/** Whom an Event is about: kinds with a key of their own stand under it. */
export function subjectFields(subject: {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}): Fields {
  const { kind, namespace, name } = subject;
  const path = namespace === '' ? name : `${namespace}/${name}`;
  switch (kind) {
    case 'Pod':
      return { pod: path };
    case 'Node':
      return { node: path };
    case 'Lease':
      return { lease: path };
    case 'NodeDrain':
      return { drain: path };
    default:
      return { object: `${kind} ${path}` };
  }
}
