// How a NodeDrain lists EvictionRequests, makes its own, and takes them back.
import type { Command, Event, Outcome } from '@taintmgr/core';
import type { EvictionRequest } from '@taintmgr/core/drain';
import {
  createEvictionRequest,
  deleteEvictionRequest,
  evictionRequestsOf,
  listEvictionRequests,
} from '../../drain/eviction-request.ts';
import { answerValue, failureOf, succeeded } from '../../proto/answer.ts';
import { asRecord, asText } from '../../proto/json.ts';
import {
  failedBy,
  failedUnasked,
  finish,
  type StateStep,
  send,
  stepsFrom,
  type Task,
} from '../task.ts';

type ReadRequests = Extract<Command, { kind: 'readEvictionRequests' }>;
type WriteRequest = Extract<Command, { kind: 'writeEvictionRequest' }>;

export type EvictionRequestNotice =
  /** What there is; the machine hears of it too. */
  | Extract<Event, { kind: 'evictionRequests' }>
  | {
      readonly kind: 'evictionRequestWritten';
      readonly command: WriteRequest;
      readonly outcome: Outcome;
    };

/** Page by page; a cluster without the API says so by 404. */
export function evictionRequestsReading({ id, drain }: ReadRequests): Task<EvictionRequestNotice> {
  let requests: readonly EvictionRequest[] = [];
  let isServed = true;
  const first = send<null>(null, listEvictionRequests());
  return {
    ...{ kind: 'task', id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(first, (_, answer): StateStep<null> => {
      if (!succeeded(answer)) {
        const failure = failureOf(answer);
        if (failure.status !== 404) return finish(failedBy(failure));
        isServed = false;
        requests = [];
        return finish({ kind: 'done' });
      }
      const page = asRecord(answerValue(answer));
      requests = [...requests, ...evictionRequestsOf(page)];
      const token = asText(asRecord(page.metadata).continue);
      if (token !== '') return send<null>(null, listEvictionRequests(token));
      return finish({ kind: 'done' });
    }),
    ended: (outcome) =>
      outcome.kind === 'done' ? { kind: 'evictionRequests', drain, isServed, requests } : null,
  };
}

/** One that is there already is ours by its name; one that is gone is taken back. */
export function evictionRequestWriting(command: WriteRequest): Task<EvictionRequestNotice> {
  const { id, uid, write } = command;
  const request =
    write.kind === 'create'
      ? createEvictionRequest(uid, write.pod)
      : deleteEvictionRequest(write.namespace, write.name);
  return {
    ...{ kind: 'task', id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(send<null>(null, request), (_, answer): StateStep<null> => {
      if (succeeded(answer)) return finish({ kind: 'done' });
      const failure = failureOf(answer);
      const isThere = write.kind === 'create' && failure.reason === 'AlreadyExists';
      const isGone = write.kind === 'withdraw' && failure.status === 404;
      return isThere || isGone ? finish({ kind: 'done' }) : finish(failedBy(failure));
    }),
    ended: (outcome) => ({ kind: 'evictionRequestWritten', command, outcome }),
  };
}
