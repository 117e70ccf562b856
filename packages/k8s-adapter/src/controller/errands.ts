import type { Instant, Millis, Outcome } from '@taintmgr/core';
import type { Answer } from '../proto/answer.ts';
import type { Random } from '../proto/backoff.ts';
import { Calls, type FinishedCall } from '../proto/calls.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';
import type { ExchangeInput } from '../proto/exchange.ts';
import type { ApiRequest } from '../proto/request.ts';
import { ownWallClock, type WallClock } from './clock/server-clock.ts';
import { Recorder, type RecorderEffect, type RecorderNotice } from './event-recorder.ts';

/** Whether this replica may change anything at this instant. */
export type MayAct = (now: Instant) => boolean;

/** What comes next for a command: another request, or its end. */
export type Turn<N> =
  | {
      readonly kind: 'send';
      readonly request: ApiRequest;
      /** Takes the answer; what is written down goes by `wall`. */
      readonly onAnswer: (answer: Answer, wall: Instant) => Turn<N>;
      /** What people are told when the request goes out; null: nothing. */
      readonly notice: N | null;
    }
  | {
      readonly kind: 'finished';
      readonly outcome: Outcome;
      /** What was not granted on the way; null: nothing. */
      readonly refusal: string | null;
    };

/** One command as requests; leadership is checked before each. */
export interface Errand<N> {
  /** Of its command. */
  readonly id: string;
  readonly first: Turn<N>;
  /** What the machine is told where the replica may not go on, and why in words. */
  readonly deposed: (message: string) => Outcome;
  /** What people are told at the end. */
  readonly ended: (outcome: Outcome, took: Millis, refusal: string | null) => N;
  /** Whether a stop lets it come to its end; otherwise no further request of it goes out. */
  readonly outlastsStop: boolean;
}

export type ErrandEffect<N> =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string }
  /** The machine is to be told. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  | { readonly kind: 'notice'; readonly notice: N | RecorderNotice };

interface Leg<N> {
  readonly errand: Errand<N>;
  readonly since: Instant;
  readonly onAnswer: (answer: Answer, wall: Instant) => Turn<N>;
}

export interface ErrandOptions {
  /** Who Kubernetes Events come from. */
  readonly component: string;
  readonly random: Random;
  /** Left out: it always may. */
  readonly mayAct?: MayAct;
  /** What is written down is dated by it; left out: `now` as it is. */
  readonly clock?: WallClock;
}

const leadsNoMore = 'this replica leads no more';
const hungUp = `${leadsNoMore}; whether its last request was carried out is not known`;

/**
 * Carries out commands, request by request, and tells Kubernetes Events. Everything begins at once:
 * how much is under way is the machine's decision.
 *
 * Before each request, the first as much as any later one, it asks whether this replica may act, at
 * that very instant: after a standstill another one may be at it. There is one place where requests
 * leave, so no command can forget to ask. As soon as the replica may not act, what is under way is
 * hung up too: it may still wait in a queue of ours, for a connection or its turn, and must not
 * leave it later. Events are told all the same; they change nothing.
 */
export class Errands<N> {
  #effects: ErrandEffect<N>[] = [];
  #serial = 0;
  #stopped = false;
  readonly #calls = new Calls<Leg<N>>();
  readonly #recorder: Recorder;
  readonly #mayAct: MayAct;
  readonly #clock: WallClock;

  constructor({ component, random, mayAct = () => true, clock = ownWallClock }: ErrandOptions) {
    this.#recorder = new Recorder({ component, random, clock });
    this.#mayAct = mayAct;
    this.#clock = clock;
  }

  /** Whether nothing is under way. */
  get idle(): boolean {
    return this.#calls.size === 0 && this.#recorder.idle;
  }

  /** Whether the request is one of its own, and under way. */
  owns(id: string): boolean {
    return this.#calls.has(id) || this.#recorder.owns(id);
  }

  /** When a call runs out of time, or Events go on; null when nothing is under way. */
  nextWake(): Instant | null {
    const [calls, events] = [this.#calls.nextWake(), this.#recorder.nextWake()];
    return calls === null || events === null ? (calls ?? events) : Math.min(calls, events);
  }

  /** Takes what is heard; input of other requests than its own is ignored. */
  receive(now: Instant, input: ExchangeInput): readonly ErrandEffect<N>[] {
    // After a standstill of this process an answer may have lain here for long: it is too late.
    this.#giveUp(now, this.#calls.expire(now));
    this.#take(this.#recorder.receive(now, input));
    const call = this.#calls.take(input);
    // Such an answer was cut off by us, not ended by the server.
    if (call && input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
    if (call) this.#finished(now, call);
    return this.#settle(now);
  }

  /** Gives up the calls whose time is up, and all where the replica may not act any more. */
  tick(now: Instant): readonly ErrandEffect<N>[] {
    this.#giveUp(now, this.#calls.expire(now));
    this.#take(this.#recorder.tick(now));
    return this.#settle(now);
  }

  /** Tells a Kubernetes Event. */
  record(now: Instant, event: ClusterEvent): readonly ErrandEffect<N>[] {
    if (!this.#stopped) this.#take(this.#recorder.record(now, event));
    return this.#drain();
  }

  /** From now on nothing begins. */
  stop(): void {
    this.#stopped = true;
    this.#recorder.stop();
  }

  /** What is written down at `now` is dated so. */
  protected wall(now: Instant): Instant {
    return this.#clock.wall(now);
  }

  /** Begins a command; `notice`: what people are told first. */
  protected begin(
    now: Instant,
    errand: Errand<N>,
    notice: N | null = null,
  ): readonly ErrandEffect<N>[] {
    if (this.#stopped) return [];
    if (notice !== null) this.#effects.push({ kind: 'notice', notice });
    this.#turn(now, errand, now, errand.first);
    return this.#drain();
  }

  #finished(now: Instant, { purpose, answer }: FinishedCall<Leg<N>>): void {
    const { errand, since, onAnswer } = purpose;
    this.#turn(now, errand, since, onAnswer(answer, this.wall(now)));
  }

  #giveUp(now: Instant, calls: readonly FinishedCall<Leg<N>>[]): void {
    for (const call of calls) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
  }

  /** The only place where a request of a command leaves. */
  #turn(now: Instant, errand: Errand<N>, since: Instant, turn: Turn<N>): void {
    if (turn.kind === 'finished') {
      const { outcome, refusal } = turn;
      const notice = errand.ended(outcome, now - since, refusal);
      this.#effects.push({ kind: 'notice', notice });
      this.#effects.push({ kind: 'result', id: errand.id, outcome });
      return;
    }
    if (this.#stopped && !errand.outlastsStop) return;
    if (!this.#mayAct(now)) {
      this.#turn(now, errand, since, deposed(errand, leadsNoMore));
      return;
    }
    const { request, onAnswer, notice } = turn;
    if (notice !== null) this.#effects.push({ kind: 'notice', notice });
    this.#serial += 1;
    const id = `call/${this.#serial}`;
    this.#calls.begin(now, id, { errand, since, onAnswer });
    this.#effects.push({ kind: 'send', id, request });
  }

  #settle(now: Instant): readonly ErrandEffect<N>[] {
    if (this.#calls.size > 0 && !this.#mayAct(now)) {
      for (const { id, purpose } of this.#calls.cancel()) {
        this.#effects.push({ kind: 'abort', id });
        this.#turn(now, purpose.errand, purpose.since, deposed(purpose.errand, hungUp));
      }
    }
    return this.#drain();
  }

  #take(effects: readonly RecorderEffect[]): void {
    this.#effects.push(...effects);
  }

  #drain(): readonly ErrandEffect<N>[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

function deposed<N>(errand: Errand<N>, message: string): Turn<N> {
  return { kind: 'finished', outcome: errand.deposed(message), refusal: null };
}
