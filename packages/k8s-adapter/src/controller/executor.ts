// Carries out the commands of a machine, request by request, and records Kubernetes Events.

import type { Outcome } from '@taintmgr/core';
import { earlier, type Instant } from '@taintmgr/core/time';
import type { Random } from '../proto/backoff.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';
import { Calls, type ExchangeInput, type FinishedCall } from '../proto/exchange.ts';
import type { RequestEffect } from '../proto/requests.ts';
import { ownWallClock, type WallClock } from './clock/server-clock.ts';
import { EventRecorder, type EventRecorderNotice } from './event-recorder.ts';
import { EventTurn } from './event-turn.ts';
import {
  type Circumstances,
  failedUnasked,
  type Procedure,
  type Procedures,
  type Task,
  type TaskRequest,
} from './task.ts';

/** Tells whether this replica may change anything at this instant. */
export type MayAct = (now: Instant) => boolean;

export type ExecutorEffect<N> =
  | RequestEffect
  /** For the machine. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  | { readonly kind: 'notice'; readonly notice: N | EventRecorderNotice };

interface TaskUnderWay<N> {
  readonly task: Task<N>;
  readonly since: Instant;
}

export interface ExecutorOptions<C extends { readonly kind: string }, N> {
  readonly procedures: Procedures<C, N>;
  /** The source of Kubernetes Events. */
  readonly component: string;
  readonly random: Random;
  /** Left out: it always may. */
  readonly mayAct?: MayAct;
  /** The clock that dates all that is written down; left out: `now` as it is. */
  readonly clock?: WallClock;
  /** Sends nothing at all; false when left out. */
  readonly readOnly?: boolean;
}

const leadsNoMore = 'this replica is no longer the leader';
const hungUp = `${leadsNoMore}; whether its last request was carried out is not known`;

/**
 * Carries out commands by the table of their procedures. Everything begins at once: how much is under
 * way is the machine's decision.
 *
 * Before each request, the first as much as any later one, it asks whether this replica may act, at
 * that very instant: after a standstill another one may be at it. There is one place where requests
 * leave, so no command can forget to ask. As soon as the replica may not act, requests under way
 * are hung up too: they may still wait in a queue of ours, for a connection or their turn, and must
 * not leave it later. Events are still recorded; they change nothing.
 */
export class Executor<C extends { readonly kind: string }, N> {
  #effects: ExecutorEffect<N>[] = [];
  #serial = 0;
  #stopped = false;
  readonly #calls = new Calls<TaskUnderWay<N>>();
  readonly #procedures: Procedures<C, N>;
  readonly #recorder: EventRecorder;
  readonly #turn = new EventTurn();
  readonly #mayAct: MayAct;
  readonly #clock: WallClock;
  readonly #readOnly: boolean;

  constructor(options: ExecutorOptions<C, N>) {
    const { component, random, mayAct = () => true, clock = ownWallClock } = options;
    this.#procedures = options.procedures;
    this.#recorder = new EventRecorder({ component, random, clock, turn: this.#turn });
    this.#mayAct = mayAct;
    this.#clock = clock;
    this.#readOnly = options.readOnly ?? false;
  }

  /** True if no command is under way. */
  get rests(): boolean {
    return this.#calls.size === 0;
  }

  /** True if nothing is under way, no Event either. */
  get idle(): boolean {
    return this.rests && this.#recorder.idle;
  }

  /** True where the id of a request belongs to it. */
  owns(id: string): boolean {
    return id.startsWith('call/') || id.startsWith('event/');
  }

  /** When a call runs out of time, or Events go on; null when nothing is under way. */
  nextWake(): Instant | null {
    return earlier(this.#calls.nextWake(), this.#recorder.nextWake());
  }

  /** Begins a command; `isStale`: true when the known state of a node is too old to rely on. */
  execute(
    now: Instant,
    command: C,
    isStale: Circumstances['isStale'] = () => false,
  ): readonly ExecutorEffect<N>[] {
    const kind: C['kind'] = command.kind;
    const procedure: Procedure<C, N> = this.#procedures[kind];
    const work = procedure(command, { wall: this.#clock.wall(now), isStale });
    if (work.kind === 'notice') return [work];
    if (this.#readOnly) return [];
    if (work.kind === 'event') return this.record(now, work.event);
    return work.kind === 'task' ? this.#begin(now, work) : [];
  }

  /** Takes an input; those of requests of others are ignored. */
  receive(now: Instant, input: ExchangeInput): readonly ExecutorEffect<N>[] {
    // Most of what watches bring comes while nothing is under way.
    if (this.rests && this.#recorder.rests) return [];
    // After a standstill of this process an answer may have lain here for long: it is too late.
    this.#giveUp(now, this.#calls.expire(now));
    // The turn of Events is checked when they are due.
    if (input.id.startsWith('event/')) {
      this.#effects.push(...this.#recorder.receive(now, input));
      return this.#hangUpIfDeposed(now);
    }
    const call = this.#calls.take(input);
    // Such an answer was cut off by us, not ended by the server.
    if (call && input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
    if (call) this.#finished(now, call);
    return this.#hangUpIfDeposed(now);
  }

  /** Gives up the calls whose time is up, and all where the replica may not act any more. */
  tick(now: Instant): readonly ExecutorEffect<N>[] {
    this.#giveUp(now, this.#calls.expire(now));
    this.#effects.push(...this.#recorder.tick(now));
    return this.#hangUpIfDeposed(now);
  }

  /** Records a Kubernetes Event. */
  record(now: Instant, event: ClusterEvent): readonly ExecutorEffect<N>[] {
    if (!this.#stopped) this.#effects.push(...this.#recorder.record(now, event));
    return this.#drain();
  }

  /** From now on no command begins; Events that wait are written still. */
  stop(now: Instant): readonly ExecutorEffect<N>[] {
    this.#stopped = true;
    this.#effects.push(...this.#recorder.stop(now));
    return this.#drain();
  }

  #begin(now: Instant, task: Task<N>): readonly ExecutorEffect<N>[] {
    if (this.#stopped) return [];
    this.#notice(task.begun ?? null);
    this.#take(now, { task, since: now }, task.steps.next());
    return this.#drain();
  }

  #finished(now: Instant, { purpose, answer }: FinishedCall<TaskUnderWay<N>>): void {
    this.#turn.ended(now);
    const wall = this.#clock.wall(now);
    this.#take(now, purpose, purpose.task.steps.next({ answer, wall }));
  }

  #giveUp(now: Instant, calls: readonly FinishedCall<TaskUnderWay<N>>[]): void {
    for (const call of calls) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
  }

  /** The only place where a request of a command leaves. */
  #take(
    now: Instant,
    underWay: TaskUnderWay<N>,
    step: IteratorResult<TaskRequest<N>, Outcome>,
  ): void {
    if (step.done) {
      this.#end(now, underWay, step.value);
      return;
    }
    const { task } = underWay;
    if (this.#stopped && !task.outlastsStop) return;
    if (!this.#mayAct(now)) {
      this.#depose(now, underWay, leadsNoMore, false);
      return;
    }
    const { request, notice } = step.value;
    this.#notice(notice);
    this.#serial += 1;
    const id = `call/${this.#serial}`;
    this.#calls.begin(now, id, request, underWay);
    this.#turn.begun(now);
    this.#effects.push({ kind: 'send', id, request });
  }

  #depose(now: Instant, underWay: TaskUnderWay<N>, message: string, isHungUp: boolean): void {
    const { deposed = failedUnasked } = underWay.task;
    this.#end(now, underWay, deposed(message, isHungUp));
  }

  #end(now: Instant, { task, since }: TaskUnderWay<N>, outcome: Outcome): void {
    this.#notice(task.ended?.(outcome, now - since) ?? null);
    this.#effects.push({ kind: 'result', id: task.id, outcome });
  }

  #notice(notice: N | null): void {
    if (notice !== null) this.#effects.push({ kind: 'notice', notice });
  }

  #hangUpIfDeposed(now: Instant): readonly ExecutorEffect<N>[] {
    if (this.#calls.size > 0 && !this.#mayAct(now)) {
      for (const { id, purpose } of this.#calls.cancel()) {
        this.#effects.push({ kind: 'abort', id });
        this.#turn.ended(now);
        this.#depose(now, purpose, hungUp, true);
      }
    }
    return this.#drain();
  }

  #drain(): readonly ExecutorEffect<N>[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
