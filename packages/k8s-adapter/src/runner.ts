import type { Event, Instant } from '@taintmgr/core';
import type { Notice } from './loop.ts';
import type { RunningAction, RunningInput, RunningLoop } from './running-loop.ts';
import { inputSink, type Transport } from './sink.ts';

export interface RunnerOptions<E = Event, N = Notice> {
  readonly loop: RunningLoop<E, N>;
  readonly send: Transport['send'];
  /** Must not go back. */
  readonly now: () => Instant;
  /** Does the work of one call from outside: the place to catch its errors and to look after it. */
  readonly around: (work: () => void) => void;
  /** Called for each notice, in order. */
  readonly onNotice: (notice: N, now: Instant) => void;
}

/** Performs the loop's actions and hands it what comes of them; knows nothing of waiting. */
export class Runner<E = Event, N = Notice> {
  #busy = false;
  readonly #inputs: RunningInput<E>[] = [];
  readonly #hangUps = new Map<string, () => void>();
  readonly #options: RunnerOptions<E, N>;

  constructor(options: RunnerOptions<E, N>) {
    this.#options = options;
  }

  /**
   * Works on an input and on all that come meanwhile, one after the other: a transport may answer
   * before `send` returns.
   */
  feed(input: RunningInput<E>): void {
    this.#inputs.push(input);
    if (!this.#busy) this.#options.around(() => this.#work());
  }

  /** Ends every request still under way. */
  hangUp(): void {
    for (const hangUp of this.#hangUps.values()) hangUp();
    this.#hangUps.clear();
  }

  #work(): void {
    this.#busy = true;
    try {
      for (let next = this.#inputs.shift(); next; next = this.#inputs.shift()) this.#step(next);
    } finally {
      this.#busy = false;
    }
  }

  #step(input: RunningInput<E>): void {
    const { loop, now } = this.#options;
    if (input.kind === 'end' || input.kind === 'failed') this.#hangUps.delete(input.id);
    const instant = now();
    for (const action of loop.handle(instant, input)) this.#perform(instant, action);
  }

  #perform(now: Instant, action: RunningAction<N>): void {
    const { send, onNotice } = this.#options;
    switch (action.kind) {
      case 'send':
        this.#hangUps.set(
          action.id,
          send(
            action.request,
            inputSink(action.id, (heard) => this.feed(heard)),
          ),
        );
        break;
      case 'abort':
        this.#hangUps.get(action.id)?.();
        this.#hangUps.delete(action.id);
        break;
      case 'notice':
        onNotice(action.notice, now);
    }
  }
}
