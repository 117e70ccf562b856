// Performs the actions of a loop and hands it the outcomes, and keeps the loop's time, which cannot
// be set.
import type { Event } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Notice } from '../controller/engine-loop.ts';
import type { LoopAction, LoopInput, RunningLoop } from '../controller/loop-parts.ts';
import { endsExchange } from '../proto/exchange.ts';
import { InputSink, type Transport } from '../transport/sink.ts';

/** The clocks of a machine. */
export interface MachineClocks {
  /** Time that passes; it cannot be set. A machine that is suspended may not count that time. */
  monotonic(): Millis;
  /** Time that people set. */
  wall(): Instant;
}

const realClocks: MachineClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** The two clocks of a machine drift apart by less within a lease; a step is rarely that short. */
const stepMsMin: Millis = 500;

/**
 * The loop's time, which cannot be set: the wall clock of the start, and from then on only passing
 * time. So it never goes back or jumps, whatever is done to the wall clock. A difference between
 * the two is still worth knowing: either the clock was set, or the machine was suspended; they look
 * the same from inside.
 */
export class LoopClock {
  readonly #clocks: MachineClocks;
  readonly #startedAt: Instant;
  readonly #origin: Millis;
  /** The time by which the wall clock is ahead of ours, as far as the loop knows. */
  #ahead: Millis = 0;

  constructor(clocks: MachineClocks = realClocks) {
    this.#clocks = clocks;
    this.#startedAt = clocks.wall();
    this.#origin = clocks.monotonic();
  }

  now(): Instant {
    return this.#startedAt + Math.floor(this.#clocks.monotonic() - this.#origin);
  }

  /** The time by which the wall clock was set since the last call, back if negative; 0: it was not. */
  step(): Millis {
    const by = this.#clocks.wall() - this.now() - this.#ahead;
    if (Math.abs(by) < stepMsMin) return 0;
    this.#ahead += by;
    return by;
  }
}

export interface RunnerOptions<E = Event, N = Notice> {
  readonly loop: RunningLoop<E, N>;
  readonly send: Transport['send'];
  readonly clock: LoopClock;
  /** Does the work of one call from outside: the place to catch its errors and to look after it. */
  readonly around: (work: () => void) => void;
  /** Called for each notice, in order; `wall` is what the cluster's clock shows. */
  readonly onNotice: (notice: N, wall: Instant) => void;
}

/** Performs the loop's actions and hands it the outcomes; knows nothing of waiting. */
export class Runner<E = Event, N = Notice> {
  #busy = false;
  #inputs: LoopInput<E>[] = [];
  readonly #hangUps = new Map<string, () => void>();
  readonly #options: RunnerOptions<E, N>;
  readonly #hear = (input: LoopInput<E>): void => this.feed(input);

  constructor(options: RunnerOptions<E, N>) {
    this.#options = options;
  }

  /**
   * Works on an input and on all that come meanwhile, one after the other: a transport may answer
   * before `send` returns.
   */
  feed(input: LoopInput<E>): void {
    this.#inputs.push(input);
    if (!this.#busy) this.#options.around(() => this.#work());
  }

  /** Tells the loop of an event of which most likely nothing comes, by the shortest way there is. */
  hear(event: E): void {
    if (!this.#busy && this.#options.loop.hear?.(this.look(), event)) return;
    this.feed({ kind: 'event', event });
  }

  /** Looks at the clocks at once, and lets the loop know if one was set; answers what the time is. */
  look(): Instant {
    const { clock } = this.#options;
    const by = clock.step();
    if (by !== 0) this.feed({ kind: 'clockStep', by });
    return clock.now();
  }

  /** Ends every request still under way. */
  hangUp(): void {
    for (const hangUp of this.#hangUps.values()) hangUp();
    this.#hangUps.clear();
  }

  #work(): void {
    this.#busy = true;
    let done = 0;
    try {
      // A list of a large cluster may be thousands of inputs: to take each from the front would move all others.
      for (let next = this.#inputs[done]; next; next = this.#inputs[done]) {
        done++;
        this.#step(next);
      }
    } finally {
      this.#busy = false;
      this.#inputs = this.#inputs.slice(done);
    }
  }

  #step(input: LoopInput<E>): void {
    const { clock } = this.#options;
    if (endsExchange(input) && 'id' in input) this.#hangUps.delete(input.id);
    // Before anything is done: a machine that was suspended may have slept through its lease.
    const by = clock.step();
    const now = clock.now();
    if (by !== 0) this.#handle(now, { kind: 'clockStep', by });
    this.#handle(now, input);
  }

  #handle(now: Instant, input: LoopInput<E>): void {
    for (const action of this.#options.loop.handle(now, input)) this.#perform(now, action);
  }

  #perform(now: Instant, action: LoopAction<N>): void {
    const { loop, send, onNotice } = this.#options;
    switch (action.kind) {
      case 'send':
        this.#hangUps.set(action.id, send(action.request, new InputSink(action.id, this.#hear)));
        break;
      case 'abort':
        this.#hangUps.get(action.id)?.();
        this.#hangUps.delete(action.id);
        break;
      case 'notice':
        onNotice(action.notice, loop.wall(now));
    }
  }
}
