// How a NodeDrain lists EvictionRequests, makes its own, and takes them back.
import type { Command, Event, Outcome } from '@taintmgr/core';
import {
  createEvictionRequest,
  deleteEvictionRequest,
  lifecyclePath,
  listLifecycle,
  pageSize,
} from '../../drain/eviction-request.ts';
import { evictionRequestsFrom, servedKinds } from '../../drain/moved-pods.ts';
import {
  type Answer,
  answerValue,
  type Failure,
  failureOf,
  noAnswer,
  succeeded,
} from '../../proto/answer.ts';
import { getRequest } from '../../proto/api-request.ts';
import { isMissing } from '../../proto/denial.ts';
import { asList, asRecord, asText } from '../../proto/json.ts';
import { PageWalk } from '../../proto/page-walk.ts';
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

const done = finish({ kind: 'done' });

export type EvictionRequestNotice =
  /** What there is; the machine hears of it too. */
  | Extract<Event, { kind: 'evictionRequests' }>
  | {
      readonly kind: 'evictionRequestWritten';
      readonly command: WriteRequest;
      readonly outcome: Outcome;
    };

type State =
  | { readonly kind: 'discovery' }
  | { readonly kind: 'requests'; readonly hasEvictions: boolean }
  | { readonly kind: 'evictions' };
type Step = StateStep<State>;

/** Asks first whether there are any: then page by page who asks, and who answers. */
export function evictionRequestsReading({ id, drain }: ReadRequests): Task<EvictionRequestNotice> {
  const found = { isServed: true, requests: [] as unknown[], evictions: [] as unknown[] };
  const walks = { requests: new PageWalk(), evictions: new PageWalk() };
  const next = (state: State, answer: Answer): Step => {
    if (!succeeded(answer)) return refused(state, failureOf(answer), found);
    const body = asRecord(answerValue(answer));
    if (state.kind === 'discovery') {
      const kinds = servedKinds(body);
      found.isServed = kinds.has('evictionrequests');
      const hasEvictions = kinds.has('evictions');
      return found.isServed ? page({ kind: 'requests', hasEvictions }) : done;
    }
    const items = asList(body.items);
    for (const item of items) found[state.kind].push(item);
    const token = asText(asRecord(body.metadata).continue);
    if (token !== '') {
      const why = walks[state.kind].next(token, items.length, pageSize);
      return why === null ? page(state, token) : finish(failedBy(noAnswer(why)));
    }
    return state.kind === 'requests' && state.hasEvictions && found.requests.length > 0
      ? page({ kind: 'evictions' })
      : done;
  };
  return {
    ...{ kind: 'task', id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(send<State>({ kind: 'discovery' }, getRequest(lifecyclePath)), next),
    ended: (outcome) => {
      if (outcome.kind !== 'done') return null;
      const requests = evictionRequestsFrom(found.requests, found.evictions);
      return { kind: 'evictionRequests', drain, isServed: found.isServed, requests };
    },
  };
}

function page(state: Exclude<State, { kind: 'discovery' }>, token = ''): Step {
  const kind = state.kind === 'requests' ? 'evictionrequests' : 'evictions';
  return send<State>(state, listLifecycle(kind, token));
}

/** Who answers is worth knowing, and not needed. */
function refused(
  { kind }: State,
  failure: Failure,
  found: { isServed: boolean; requests: unknown[] },
): Step {
  if (kind === 'evictions' && [403, 404].includes(failure.status ?? 0)) return done;
  if (failure.status !== 404) return finish(failedBy(failure));
  found.isServed = false;
  found.requests = [];
  return done;
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
      const isGone = write.kind === 'withdraw' && isMissing(failure);
      return isThere || isGone ? finish({ kind: 'done' }) : finish(failedBy(failure));
    }),
    ended: (outcome) => ({ kind: 'evictionRequestWritten', command, outcome }),
  };
}
