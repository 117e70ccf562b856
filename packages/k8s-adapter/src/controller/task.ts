// What becomes of a command: a task of one or more requests, a Kubernetes Event, or a notice.

import type { Outcome } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Answer, Failure } from '../proto/answer.ts';
import type { ApiRequest } from '../proto/api-request.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';

/** What carrying out a command comes to. */
type Work<N> =
  | Task<N>
  | { readonly kind: 'event'; readonly event: ClusterEvent }
  | { readonly kind: 'notice'; readonly notice: N }
  | { readonly kind: 'nothing' };

/** One command as requests, each built on the answer to the one before. */
export interface Task<N> {
  readonly kind: 'task';
  /** Of its command. */
  readonly id: string;
  readonly first: TaskStep<N>;
  /** What people get to know when it begins; left out: nothing. */
  readonly begun?: N;
  /** The outcome where the replica may not go on, and why in words; `isHungUp`: in the midst of a request. */
  readonly deposed: (message: string, isHungUp: boolean) => Outcome;
  /** What people get to know at the end; null: nothing. */
  readonly ended: (outcome: Outcome, took: Millis, refusal: string | null) => N | null;
  /** Whether a stop lets it come to its end; otherwise no further request of it goes out. */
  readonly outlastsStop: boolean;
}

/** What comes next for a command: another request, or its end. */
export type TaskStep<N> =
  | {
      readonly kind: 'send';
      readonly request: ApiRequest;
      /** Takes the answer; what is written down goes by `wall`. */
      readonly onAnswer: (answer: Answer, wall: Instant) => TaskStep<N>;
      /** What people get to know when the request goes out; null: nothing. */
      readonly notice: N | null;
    }
  | {
      readonly kind: 'finished';
      readonly outcome: Outcome;
      /** What was not granted on the way; null: nothing. */
      readonly refusal: string | null;
    };

/** What a procedure is given beside its command. */
export interface Circumstances {
  /** What is written down is dated so. */
  readonly wall: Instant;
  /** Whether what we know of a node and its pods is too old to remove or mark a pod for it. */
  readonly isStale: (nodeName: string) => boolean;
}

/** How one kind of command is carried out. (A method, so that a table can hold one for each kind.) */
export type Procedure<C, N> = { of(command: C, given: Circumstances): Work<N> }['of'];

/** How each command of a machine is carried out, by its kind. */
export type Procedures<C extends { readonly kind: string }, N> = {
  readonly [K in C['kind']]: Procedure<Extract<C, { readonly kind: K }>, N>;
};

/** A step of a task as a value: the state after it says how it goes on. */
export type StateStep<S> =
  | {
      readonly kind: 'send';
      readonly state: S;
      readonly request: ApiRequest;
      readonly refusal?: string | null;
    }
  | { readonly kind: 'finished'; readonly outcome: Outcome; readonly refusal?: string | null };

/** Goes on from state to state; `refused` makes a notice of what was not granted on the way. */
export function stepsFrom<S, N>(
  step: StateStep<S>,
  resume: (state: S, answer: Answer, wall: Instant) => StateStep<S>,
  refused: (refusal: string) => N | null = () => null,
): TaskStep<N> {
  const { refusal = null } = step;
  if (step.kind === 'finished') return { kind: 'finished', outcome: step.outcome, refusal };
  const { state, request } = step;
  return {
    kind: 'send',
    request,
    onAnswer: (answer, wall) => stepsFrom(resume(state, answer, wall), resume, refused),
    notice: refusal === null ? null : refused(refusal),
  };
}

/** The next request; the state says how its answer is taken. */
export function send<S>(
  state: S,
  request: ApiRequest,
  refusal: string | null = null,
): Extract<StateStep<S>, { kind: 'send' }> {
  return { kind: 'send', state, request, refusal };
}

/** The end; `refusal`: what was not granted on the way. */
export function finish(
  outcome: Outcome,
  refusal: string | null = null,
): Extract<TaskStep<never>, { kind: 'finished' }> {
  return { kind: 'finished', outcome, refusal };
}

/** What decided does not hold any more, or is another replica's to find out. */
export function changed(message: string): Outcome {
  return { kind: 'changed', message };
}

type Failed = Extract<Outcome, { kind: 'failed' }>;

/** The outcome of a request that failed, as the server said it. */
export function failedBy({ status, message, retryAfter }: Failure): Failed {
  return { kind: 'failed', status, message, retryAfter };
}

/** An outcome without an answer of the server's. */
export function failedUnasked(message: string): Failed {
  return { kind: 'failed', status: null, message, retryAfter: null };
}
