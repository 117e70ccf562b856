import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import { type Answer, failureOf, succeeded } from '../proto/answer.ts';
import { Calls, type ExchangeInput, mebibyte } from '../proto/exchange.ts';
import { asRecord, asText, parseJson } from '../proto/json.ts';
import type { RequestEffect } from '../proto/requests.ts';
import { summaryRequest } from './requests.ts';

/** The pace at which nodes are asked, and the number at a time. Times are in milliseconds. */
export interface PollOptions {
  /** The interval at which each node is asked, if the rate allows it. */
  readonly pollPeriodMs?: Millis;
  /** Requests that begin in a second, in all. */
  readonly pollsPerSecond?: number;
  /** The number of nodes that are asked at the same time. */
  readonly pollsInFlightMax?: number;
  /** An answer that is not complete by then counts as missing. */
  readonly pollTimeoutMs?: Millis;
}

export type PollEffect =
  | RequestEffect
  | { readonly kind: 'answered'; readonly nodeName: string; readonly summary: unknown }
  | { readonly kind: 'unanswered'; readonly nodeName: string; readonly message: string };

/** The options that apply where they are left out. */
export const defaultPollOptions: Required<PollOptions> = {
  pollPeriodMs: 10_000,
  pollsPerSecond: 100,
  pollsInFlightMax: 40,
  pollTimeoutMs: 10_000,
};

/** Five times a kubelet's summary of 500 pods: a larger answer is an attack. */
const summaryBytesMax = 4 * mebibyte;
/** The number of periods for which a node that did not answer is left alone. */
const unansweredPeriods = 3;
/** The number of requests under way that may be to nodes that did not answer the last time. */
const unansweredShare = 0.25;

/**
 * Asks every node in turn for its summary, evenly spread and never twice at once. Nodes that did
 * not answer are asked less often and have few places among the requests under way: a zone that is
 * dead must not keep us from those that live.
 */
export class SummaryPoller {
  readonly #options: Required<PollOptions>;
  readonly #unansweredMax: number;
  readonly #calls: Calls<Poll>;
  readonly #queue = new PollQueue();
  readonly #unansweredQueue = new PollQueue();
  /** Nodes to ask. */
  readonly #wanted = new Set<string>();
  readonly #underWay = new Map<string, Poll>();
  #unansweredUnderWay = 0;
  #readyAt: Instant = Number.NEGATIVE_INFINITY;
  #serial = 0;
  #stopped = false;

  constructor(options: PollOptions = {}) {
    this.#options = { ...defaultPollOptions, ...options };
    this.#unansweredMax = Math.max(1, Math.floor(this.#options.pollsInFlightMax * unansweredShare));
    this.#calls = new Calls(this.#options.pollTimeoutMs, summaryBytesMax);
  }

  /** True if nothing is under way. */
  get idle(): boolean {
    return this.#calls.size === 0;
  }

  /** Asks the node from now on. */
  add(now: Instant, nodeName: string): void {
    if (this.#wanted.has(nodeName)) return;
    this.#wanted.add(nodeName);
    if (!this.#underWay.has(nodeName)) this.#queue.put(nodeName, now);
  }

  /** Stops asking the node; later answers are not passed on. */
  delete(nodeName: string): void {
    this.#wanted.delete(nodeName);
    this.#queue.delete(nodeName);
    this.#unansweredQueue.delete(nodeName);
  }

  /** The time of the next tick; null: after an input. */
  nextWake(): Instant | null {
    const turn = this.#nextTurn();
    const startAt = turn === null ? null : Math.max(turn, this.#readyAt);
    return earliest([this.#calls.nextWake(), startAt]);
  }

  /** Gives up those whose time is up, and asks those whose turn it is. */
  tick(now: Instant): readonly PollEffect[] {
    return [...this.#expire(now), ...this.#begin(now)];
  }

  /** Takes an input; those of requests of others are ignored. */
  receive(now: Instant, input: ExchangeInput): readonly PollEffect[] {
    const call = this.#calls.take(input);
    if (!call) return [];
    // Such an answer was cut off by us, not ended by the server.
    const aborts = input.kind === 'chunk' ? [{ kind: 'abort', id: call.id } as const] : [];
    return [...aborts, ...this.#finish(now, call.purpose, call.answer)];
  }

  /** Asks no kubelet any more, and hangs up. */
  stop(): readonly PollEffect[] {
    this.#stopped = true;
    this.#wanted.clear();
    return this.#expire(Number.POSITIVE_INFINITY);
  }

  #nextTurn(): Instant | null {
    if (this.#stopped || this.#calls.size >= this.#options.pollsInFlightMax) return null;
    const [turn, unansweredTurn] = [this.#queue.next(), this.#nextUnansweredTurn()];
    return turn === null || unansweredTurn === null
      ? (turn ?? unansweredTurn)
      : Math.min(turn, unansweredTurn);
  }

  #nextUnansweredTurn(): Instant | null {
    return this.#unansweredUnderWay < this.#unansweredMax ? this.#unansweredQueue.next() : null;
  }

  #begin(now: Instant): readonly PollEffect[] {
    const effects: PollEffect[] = [];
    while (now >= this.#readyAt) {
      const turn = this.#nextTurn();
      if (turn === null || turn > now) break;
      const nodeName = this.#queue.take(now);
      effects.push(
        nodeName === null
          ? this.#ask(now, this.#unansweredQueue.take(now) ?? '', true)
          : this.#ask(now, nodeName, false),
      );
    }
    return effects;
  }

  #ask(now: Instant, nodeName: string, isUnanswered: boolean): PollEffect {
    this.#serial += 1;
    const poll = { nodeName, since: now, isUnanswered };
    const id = `summary/${this.#serial}`;
    this.#readyAt = now + 1000 / this.#options.pollsPerSecond;
    this.#underWay.set(nodeName, poll);
    if (isUnanswered) this.#unansweredUnderWay += 1;
    const request = summaryRequest(nodeName);
    this.#calls.begin(now, id, request, poll);
    return { kind: 'send', id, request };
  }

  #expire(now: Instant): readonly PollEffect[] {
    return this.#calls
      .expire(now)
      .flatMap(({ id, purpose, answer }): readonly PollEffect[] => [
        { kind: 'abort', id },
        ...this.#finish(now, purpose, answer),
      ]);
  }

  #finish(now: Instant, poll: Poll, answer: Answer): readonly PollEffect[] {
    const { nodeName, since, isUnanswered } = poll;
    const { pollPeriodMs } = this.#options;
    this.#underWay.delete(nodeName);
    if (isUnanswered) this.#unansweredUnderWay -= 1;
    if (!this.#wanted.has(nodeName)) return [];
    const effect = readAnswer(nodeName, answer);
    if (effect.kind === 'answered') this.#queue.put(nodeName, since + pollPeriodMs);
    else this.#unansweredQueue.put(nodeName, now + unansweredPeriods * pollPeriodMs);
    return [effect];
  }
}

interface Poll {
  readonly nodeName: string;
  readonly since: Instant;
  /** True if it had not answered the last time. */
  readonly isUnanswered: boolean;
}

/** A summary that names another node is not believed: pods would go for the wrong one. */
function readAnswer(nodeName: string, answer: Answer): PollEffect {
  const unanswered = (message: string): PollEffect => ({ kind: 'unanswered', nodeName, message });
  if (!succeeded(answer)) return unanswered(failureOf(answer).message);
  const summary = parseJson(answer.body);
  const named = asText(asRecord(asRecord(summary).node).nodeName);
  if (named !== '' && named !== nodeName) return unanswered(`the answer is about node ${named}`);
  return { kind: 'answered', nodeName, summary };
}

/** Names that wait for their turn to be polled, first come, first served. */
class PollQueue {
  readonly #due = new Map<string, Instant>();
  #last: Instant = Number.NEGATIVE_INFINITY;

  /** Puts a name at the end: its turn is at `at`, but after that of those ahead of it. */
  put(name: string, at: Instant): void {
    if (this.#due.size === 0) this.#last = at;
    this.#last = Math.max(this.#last, at);
    this.#due.delete(name);
    this.#due.set(name, this.#last);
  }

  delete(name: string): void {
    this.#due.delete(name);
  }

  /** The time at which the first is due; null: there is none. */
  next(): Instant | null {
    for (const at of this.#due.values()) return at;
    return null;
  }

  /** Takes the first out, if it is due by now. */
  take(now: Instant): string | null {
    for (const [name, at] of this.#due) {
      if (at > now) break;
      this.#due.delete(name);
      return name;
    }
    return null;
  }
}
