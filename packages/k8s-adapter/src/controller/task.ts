// The work of a command: a task of one or more requests, a Kubernetes Event, or a notice.

import type { Outcome } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  type Answer,
  answerValue,
  type Failure,
  failureOf,
  isMissing,
  noAnswer,
  type Responded,
  succeeded,
} from '../proto/answer.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';
import { asList, asRecord, asText, type JsonRecord } from '../proto/json.ts';
import { PageWalk } from '../proto/page-walk.ts';
import { type ApiRequest, getRequest } from '../proto/requests.ts';

/** Every form of work for a command. */
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
  /** Runs the command. It is not resumed after its end, or after the replica has been deposed. */
  readonly steps: Steps<Outcome, N>;
  /** The news for people when it begins; left out: nothing. */
  readonly begun?: N;
  /**
   * The outcome where the replica may not continue, and why in words; `isHungUp`: in the midst of a
   * request. Left out: it has failed.
   */
  readonly deposed?: (message: string, isHungUp: boolean) => Outcome;
  /** The news for people at the end; null, or left out: nothing. */
  readonly ended?: (outcome: Outcome, took: Millis) => N | null;
  /** A stop lets it end; left out: no further request of it goes out. */
  readonly outlastsStop?: true;
}

/**
 * A procedure that waits in the midst: where it needs an answer it yields the request, and is resumed when
 * the answer has come.
 */
export type Steps<T = Outcome, N = never> = Generator<TaskRequest<N>, T, Answered>;

export interface TaskRequest<N> {
  readonly request: ApiRequest;
  /** The news for people when the request goes out; null: nothing. */
  readonly notice: N | null;
}

interface Answered {
  readonly answer: Answer;
  /** The date of all that is written down after it. */
  readonly wall: Instant;
}

/** All that a procedure is given beside its command. */
export interface Circumstances {
  /** The date of all that is written down. */
  readonly wall: Instant;
  /** Tells whether what we know of a node and its pods is too old to remove or mark a pod for it. */
  readonly isStale: (nodeName: string) => boolean;
}

/** The way one kind of command is carried out. (A method, so that a table can hold one for each kind.) */
export type Procedure<C, N> = { of(command: C, given: Circumstances): Work<N> }['of'];

/** The way each command of a machine is carried out, by its kind. */
export type Procedures<C extends { readonly kind: string }, N> = {
  readonly [K in C['kind']]: Procedure<Extract<C, { readonly kind: K }>, N>;
};

/** Sends a request and waits for its answer. */
export function* call<N = never>(request: ApiRequest, notice: N | null = null): Steps<Answered, N> {
  return yield { request, notice };
}

/** Has its outcome at once. */
// biome-ignore lint/correctness/useYield: there is nothing to wait for.
export function* ended(outcome: Outcome): Steps {
  return outcome;
}

/** Writes, and is done when that is accepted. */
export function* write(request: ApiRequest): Steps {
  const { answer } = yield* call(request);
  return succeeded(answer) ? done : refusal(answer);
}

/** The request that changes an object as it was read, or the outcome where there is nothing to change. */
export type Change = (found: Responded, wall: Instant) => ApiRequest | Outcome;

/**
 * Reads an object and writes the result of `change`, guarded by the version that was read. Refused
 * with 409 because another writer was quicker, the object is read and looked at again,
 * `conflictsMax` times at most.
 */
export function* readModifyWrite(
  read: (conflicts: number) => ApiRequest,
  change: Change,
  conflictsMax = 0,
): Steps {
  for (let conflicts = 0; ; conflicts++) {
    const { answer, wall } = yield* call(read(conflicts));
    if (!succeeded(answer)) return refusal(answer);
    const next = change(answer, wall);
    if ('kind' in next) return next;
    const outcome = yield* write(next);
    const isBehind = outcome.kind === 'failed' && outcome.status === 409;
    if (!isBehind || conflicts >= conflictsMax) return outcome;
  }
}

/** Objects in a page of a list. */
const pageSize = 500;

/**
 * Reads a list page by page, until `take` has seen enough and says true. The failure that ended it before;
 * null: none did.
 */
export function* readPages(
  path: string,
  take: (page: JsonRecord) => boolean | undefined,
): Steps<Failure | null> {
  const walk = new PageWalk();
  for (let token = ''; ; ) {
    const query = { limit: pageSize, ...(token !== '' && { continue: token }) };
    const { answer } = yield* call(getRequest(path, query));
    if (!succeeded(answer)) return failureOf(answer);
    const page = asRecord(answerValue(answer));
    token = asText(asRecord(page.metadata).continue);
    const why = token === '' ? null : walk.next(token, asList(page.items).length, pageSize);
    if (why !== null) return noAnswer(why);
    if (take(page) === true || token === '') return null;
  }
}

export const done: Outcome = { kind: 'done' };
export const gone: Outcome = { kind: 'gone' };

/** The outcome of a request that was refused: its object is gone, or the request has failed. */
export function refusal(answer: Answer): Outcome {
  const failure = failureOf(answer);
  return isMissing(failure) ? gone : failedBy(failure);
}

/** Says that the reason does not hold any more, or is another replica's to find out. */
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
