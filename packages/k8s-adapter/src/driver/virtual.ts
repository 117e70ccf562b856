// Runs a loop on a virtual clock, against a cluster in this process.
import type { Event } from '@taintmgr/core';
import { earlier, type Instant } from '@taintmgr/core/time';
import type { Notice } from '../controller/engine-loop.ts';
import type { LoopInput, RunningLoop } from '../controller/loop-parts.ts';
import type { ApiRequest } from '../proto/requests.ts';
import type { Sink } from '../transport/sink.ts';
import { LoopClock, type MachineClocks, Runner } from './runner.ts';

/** Where an exchange puts its answer: a Sink whose connection breaks without words. */
export interface ExchangeSink extends Omit<Sink, 'failed' | 'alive'>, Partial<Pick<Sink, 'alive'>> {
  /** The connection broke: the rest of the answer will not come. */
  reset(): void;
}

/** The sink of a client, as an exchange calls it. */
export function exchangeSink(sink: Sink): ExchangeSink {
  return {
    head: (status, headers) => sink.head(status, headers),
    data: (chunk) => sink.data(chunk),
    end: () => sink.end(),
    alive: (age) => sink.alive(age),
    reset: () => sink.failed('connection reset'),
  };
}

/** A request whose body may be a value, for which it needs no text. */
interface ExchangeRequest extends ApiRequest {
  readonly value?: object;
}

/** Answers one request, at once or in the course of virtual time; the result hangs up. */
export type Exchange = (request: ExchangeRequest, sink: ExchangeSink) => () => void;

/** A clock that moves only when asked to, and runs the timers that are due on the way. */
export interface VirtualTime {
  /** The present instant, in milliseconds since the Unix epoch. */
  now(): Instant;
  /** When something is due next; null: nothing waits. */
  nextWake(): Instant | null;
  /** Moves to `instant`, and runs what is due on the way. */
  advanceTo(instant: Instant): void;
}

/** A loop, the server that answers it in this process, and the clock of both. */
export interface VirtualOptions<E = Event, N = Notice> {
  /** The loop to run. */
  readonly loop: RunningLoop<E, N>;
  /** The server: `exchange` of a simulated cluster. */
  readonly exchange: Exchange;
  /** The clock of the server. */
  readonly clock: VirtualTime;
  /** Called for each notice, in order; `wall` is what the cluster's clock shows. */
  readonly onNotice: (notice: N, wall: Instant) => void;
  /** Of the machine that the loop runs on; left out: both go as `clock` does. */
  readonly clocks?: MachineClocks;
  /**
   * True if bodies go, and answers and events of watches come, as the values that there are: a
   * simulation has no time for text. Left out: as text, by the way that is taken in a real cluster.
   */
  readonly values?: boolean;
}

/**
 * Runs the loop against an API server in the same process, without waiting: time jumps from one
 * instant at which something is due to the next. The same inputs give the same run.
 */
export class VirtualDriver<E = Event, N = Notice> {
  readonly #loop: RunningLoop<E, N>;
  readonly #clock: VirtualTime;
  readonly #loopClock: LoopClock;
  readonly #runner: Runner<E, N>;

  constructor(options: VirtualOptions<E, N>) {
    const { loop, exchange, clock, onNotice, clocks, values = false } = options;
    this.#loop = loop;
    this.#clock = clock;
    const now = (): Instant => clock.now();
    this.#loopClock = new LoopClock(clocks ?? { monotonic: now, wall: now });
    this.#runner = new Runner({
      loop,
      onNotice,
      send: (request, sink) => {
        const hasValues = values && sink.value !== undefined;
        return exchange(values ? withValue(request) : request, {
          ...exchangeSink(sink),
          ...(hasValues && { value: (given) => sink.value?.(given) }),
        });
      },
      clock: this.#loopClock,
      around: (work) => work(),
    });
  }

  /** Hands the loop an input now, and carries out its actions. */
  feed(input: LoopInput<E>): void {
    this.#runner.feed(input);
  }

  /** Hands the loop an event of which most likely nothing comes: that takes less than to feed it. */
  hear(event: E): void {
    this.#runner.hear(event);
  }

  /** Moves time to `instant`; everything due up to then has happened when it returns. */
  runUntil(instant: Instant): void {
    for (let next = this.#nextTurn(); next !== null && next <= instant; next = this.#nextTurn()) {
      this.#clock.advanceTo(Math.max(next, this.#clock.now()));
      const wake = this.nextWake();
      if (wake !== null && wake <= this.#clock.now()) this.#runner.feed({ kind: 'tick' });
    }
    this.#clock.advanceTo(Math.max(instant, this.#clock.now()));
  }

  /** When the loop wants to be called, by the time of `clock`. */
  nextWake(): Instant | null {
    const wake = this.#loop.nextWake();
    return wake === null ? null : wake + this.#clock.now() - this.#loopClock.now();
  }

  #nextTurn(): Instant | null {
    return earlier(this.nextWake(), this.#clock.nextWake());
  }
}

function withValue(request: ApiRequest): ExchangeRequest {
  const { method, path, headers, bodyValue: value } = request;
  return value ? { method, path, headers, body: null, value } : request;
}
