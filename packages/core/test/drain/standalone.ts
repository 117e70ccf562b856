import type { Event } from '@taintmgr/core';
import type { DrainCommand, DrainConfig } from '@taintmgr/core/drain';
import { DrainTimes } from '../../src/drain/decide.ts';
import { DrainMachine } from '../../src/drain/machine.ts';
import { Store } from '../../src/store.ts';

/** A drain machine beside no engine, with a store of its own. */
export class StandaloneDrain {
  readonly machine: DrainMachine;
  readonly #store: Store = new Store();
  readonly #times: DrainTimes = new DrainTimes(this.#store);

  constructor(config: DrainConfig, gate?: ConstructorParameters<typeof DrainMachine>[2]) {
    this.machine = new DrainMachine(config, this.#times, gate);
  }

  /** Takes an event; the commands that it leads to come with a tick. */
  handle(now: number, event: Event): readonly DrainCommand[] {
    const ended = this.#store.endPauses(now);
    const change = this.#store.apply(now, event);
    const changes = change ? [...ended, change] : ended;
    if (this.#times.follow(now, changes)) this.machine.redecide(now);
    return this.machine.handle(now, event);
  }

  nextWake(): number | null {
    const { synced, finished } = this.machine;
    const wakes = [
      this.machine.nextWake(),
      synced && !finished ? this.#store.nextPauseEnd() : null,
    ];
    const known = wakes.filter((wake) => wake !== null);
    return known.length === 0 ? null : Math.min(...known);
  }
}
