// Lists EvictionRequests for a NodeDrain, makes its own, and takes them back.
import type { Command, Event, Outcome } from '@taintmgr/core';
import {
  createEvictionRequest,
  deleteEvictionRequest,
  lifecyclePath,
} from '../../drain/eviction-request.ts';
import { evictionRequestsFrom, servedKinds } from '../../drain/moved-pods.ts';
import { answerValue, type Failure, failureOf, succeeded } from '../../proto/answer.ts';
import { getRequest } from '../../proto/api-request.ts';
import { isMissing } from '../../proto/denial.ts';
import { asList, asRecord } from '../../proto/json.ts';
import { call, done, failedBy, readPages, type Steps, type Task } from '../task.ts';

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

/** What is read of the cluster. */
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
  // Who answers is worth knowing, and not needed.
  return !failure || [403, 404].includes(failure.status ?? 0) ? done : failedBy(failure);
}

function notServed(listed: Listed, failure: Failure): Outcome {
  if (failure.status !== 404) return failedBy(failure);
  listed.isServed = false;
  listed.requests = [];
  return done;
}

/** One that is there already is known by its name; one that is gone is taken back. */
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
