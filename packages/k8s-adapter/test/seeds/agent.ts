import { createPressureMachine, type PressureConfig } from '@taintmgr/core/pressure';
import type { Exchange, Random, VirtualClock } from '@taintmgr/sim-cluster';
import { PressureLoop } from '../../src/controller/pressure-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';

export interface AgentOptions {
  readonly config: Partial<PressureConfig>;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly exchange: Exchange;
}

/** The node pressure agent. It is no controller under watch: it makes its own pods leave. */
export class Agent {
  readonly #loop: PressureLoop;
  readonly #runUntil: (instant: number) => void;
  readonly start: () => void;

  constructor({ config, clock, random, exchange }: AgentOptions) {
    const machine = createPressureMachine(config);
    this.#loop = new PressureLoop({ machine, random, watches: () => true });
    const driver = new VirtualDriver({ loop: this.#loop, clock, exchange, onNotice: () => {} });
    this.#runUntil = (instant) => driver.runUntil(instant);
    this.start = () => driver.feed({ kind: 'start' });
  }

  nextWake(): number | null {
    return this.#loop.nextWake();
  }

  runUntil(instant: number): void {
    this.#runUntil(instant);
  }
}
