import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import type { Answer } from './answer.ts';
import { heeded } from './answer-fault.ts';
import type { ApiRequest } from './api-request.ts';
import { AnswerCollector, type ExchangeInput, mebibyte, wholeAnswer } from './exchange.ts';

/** A request that came to its end, with what it was for. */
export interface FinishedCall<T> {
  readonly id: string;
  readonly purpose: T;
  readonly answer: Answer;
}

interface Call<T> {
  readonly purpose: T;
  readonly request: ApiRequest;
  /** Null as long as no part of an answer came: most come as a whole. */
  collector: AnswerCollector | null;
  readonly deadline: Instant;
}

/** A call without a complete answer by then has failed, where nothing else is said. */
const callMsMaxDefault: Millis = 30_000;
/** The API server itself refuses objects beyond 3 MiB. */
const bytesMaxDefault = 16 * mebibyte;

const none: readonly never[] = [];

/** The requests under way that have one answer, and their time limits. */
export class Calls<T> {
  /** In the order of their deadlines, which is the order in which they began. */
  readonly #open = new Map<string, Call<T>>();
  readonly #callMsMax: Millis;
  readonly #bytesMax: number;
  /** No deadline is before this: asked with every input, and hardly ever is one over. */
  #noneBefore: Instant = Number.POSITIVE_INFINITY;

  constructor(callMsMax: Millis = callMsMaxDefault, bytesMax: number = bytesMaxDefault) {
    this.#callMsMax = callMsMax;
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#open.size;
  }

  begin(now: Instant, id: string, request: ApiRequest, purpose: T): void {
    const deadline = now + this.#callMsMax;
    this.#noneBefore = Math.min(this.#noneBefore, deadline);
    this.#open.set(id, { purpose, request, collector: null, deadline });
  }

  /**
   * Takes a part of an answer; the call when this was the last part, null before. A 2xx with anything but what was
   * asked for is a failure.
   */
  take(input: ExchangeInput): FinishedCall<T> | null {
    const call = this.#open.get(input.id);
    const answer = call ? this.#answerOf(call, input) : null;
    if (!call || !answer) return null;
    this.#open.delete(input.id);
    return { id: input.id, purpose: call.purpose, answer: heeded(call.request, answer) };
  }

  #answerOf(call: Call<T>, input: ExchangeInput): Answer | null {
    if (input.kind === 'answer' && !call.collector) return wholeAnswer(input, this.#bytesMax);
    call.collector ??= new AnswerCollector(this.#bytesMax);
    return call.collector.take(input);
  }

  /** Ends the calls whose time is up; their requests are to be aborted. */
  expire(now: Instant): readonly FinishedCall<T>[] {
    if (now < this.#noneBefore) return none;
    const expired: FinishedCall<T>[] = [];
    for (const [id, { purpose, deadline }] of this.#open) {
      if (deadline > now) break;
      const message = `no answer within ${formatDuration(this.#callMsMax)}`;
      expired.push({ id, purpose, answer: { kind: 'none', message } });
      this.#open.delete(id);
    }
    this.#noneBefore = this.nextWake() ?? Number.POSITIVE_INFINITY;
    return expired;
  }

  /** Forgets all that is under way; the requests are to be aborted. */
  cancel(): readonly { readonly id: string; readonly purpose: T }[] {
    const open = [...this.#open].map(([id, { purpose }]) => ({ id, purpose }));
    this.#open.clear();
    return open;
  }

  /** The earliest deadline; null when nothing is under way. */
  nextWake(): Instant | null {
    for (const { deadline } of this.#open.values()) return deadline;
    return null;
  }
}
