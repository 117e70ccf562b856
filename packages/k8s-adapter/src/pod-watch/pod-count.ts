import type { Instant } from '@taintmgr/core/time';
import { type Answer, succeeded } from '../proto/answer.ts';
import type { RequestEffect } from '../proto/api-request.ts';
import { Calls } from '../proto/calls.ts';
import type { ExchangeInput } from '../proto/exchange.ts';
import { asRecord, parseJson } from '../proto/json.ts';
import { listRequest, podsPath } from '../proto/list-requests.ts';

const id = 'pods.count/1';

/** How many pods there are; null where nobody says. */
export interface Counted {
  readonly pods: number | null;
}

/** Asks once how many pods there are, without reading them: a page of one says how many follow. */
export class PodCount {
  readonly #calls = new Calls<null>();

  begin(now: Instant): RequestEffect {
    const request = listRequest(podsPath, { limit: 1 });
    this.#calls.begin(now, id, request, null);
    return { kind: 'send', id, request };
  }

  /** Takes a part of the answer, which may be another's; null: the answer has not come to its end. */
  take(input: ExchangeInput): Counted | null {
    const call = this.#calls.take(input);
    return call && { pods: countIn(call.answer) };
  }

  /** Null: there is time yet, or nothing was asked. Else the time is up. */
  expire(now: Instant): RequestEffect | null {
    return this.#calls.expire(now).length === 0 ? null : { kind: 'abort', id };
  }

  /** What has been asked is not waited for any more. */
  abandon(): readonly RequestEffect[] {
    return this.#calls.size === 0 ? [] : [{ kind: 'abort', id }];
  }

  nextWake(): Instant | null {
    return this.#calls.nextWake();
  }
}

function countIn(answer: Answer): number | null {
  if (!succeeded(answer)) return null;
  const { items, metadata } = asRecord(parseJson(answer.body));
  const { continue: next, remainingItemCount } = asRecord(metadata);
  if (!Array.isArray(items)) return null;
  if (!next) return items.length;
  return typeof remainingItemCount === 'number' ? items.length + remainingItemCount : null;
}
