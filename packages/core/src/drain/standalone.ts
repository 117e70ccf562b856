// Runs a drain machine without an engine, with a store of its own: for tests of what drains are told.
import type { Event } from '../event.ts';
import { earlier, type Instant } from '../kernel/time.ts';
import { Store } from '../store.ts';
import type { DrainConfig } from './config.ts';
import { DrainTimes } from './decide.ts';
import { type DrainCommand, DrainMachine } from './machine.ts';
import type { PodGate } from './pod-gate.ts';

/** A drain machine that takes all events itself. */
export class StandaloneDrain {
  readonly machine: DrainMachine;
  readonly #store: Store = new Store();
  readonly #times: DrainTimes = new DrainTimes(this.#store);

  constructor(config: DrainConfig, gate?: PodGate) {
    this.machine = new DrainMachine(config, this.#times, gate);
  }

  /** Takes an event; the commands that it leads to come with a tick. `now` never goes back. */
  handle(now: Instant, event: Event): readonly DrainCommand[] {
    const ended = this.#store.endPauses(now);
    const change = this.#store.apply(now, event);
    const changes = change ? [...ended, change] : ended;
    if (this.#times.follow(now, changes)) this.machine.redecide(now);
    return this.machine.handle(now, event);
  }

  nextWake(): Instant | null {
    const { synced, finished } = this.machine;
    const wake = this.machine.nextWake();
    return synced && !finished ? earlier(wake, this.#store.nextPauseEnd()) : wake;
  }
}
