// All of ours that works in a simulated cluster, on the clock that all share.
import { createPressureMachine, type PressureConfig } from '@taintmgr/core/pressure';
import { earliest, type Instant } from '@taintmgr/core/time';
import { PressureLoop, type PressureNotice, VirtualDriver } from '@taintmgr/k8s-adapter';
import { type Random, seededRandom, type VirtualClock } from '@taintmgr/sim-cluster';
import { Controller, type ControllerOptions } from './controller.ts';

export interface AgentsOptions extends Omit<ControllerOptions, 'random' | 'onNotice'> {
  readonly seed: number;
  /** Null: nobody watches what nodes run out of. */
  readonly pressure: Partial<PressureConfig> | null;
  readonly onNotice: (
    notice: Parameters<ControllerOptions['onNotice']>[0] | PressureNotice,
  ) => void;
}

/** One loop that is driven on the clock that all share. */
interface Driven {
  readonly driver: {
    feed(input: { readonly kind: 'start' }): void;
    nextWake(): Instant | null;
    runUntil(instant: Instant): void;
  };
}

/** All of ours that works in the cluster: the controller, and the node pressure agent beside it. */
export class Agents {
  readonly controller: Controller;
  readonly #clock: VirtualClock;
  readonly #restarts: boolean;
  readonly #agents: readonly Driven[];

  constructor(options: AgentsOptions) {
    const { clock, seed, pressure, restarts } = options;
    this.#clock = clock;
    this.#restarts = restarts;
    const random = seededRandom(seed);
    this.controller = new Controller({ ...options, random });
    this.#agents = pressure ? [pressureAgent(options, pressure, random)] : [];
  }

  start(): void {
    this.controller.start();
    for (const { driver } of this.#agents) driver.feed({ kind: 'start' });
  }

  /** Moves time to `instant`; everybody does what is due on the way at its own instant. */
  runUntil(instant: Instant): void {
    const [only, another] = this.#driven;
    // Alone, and never replaced, it goes all the way by itself.
    if (only && !another && !this.#restarts) {
      only.driver.runUntil(instant);
      return;
    }
    for (let next = this.#nextWake(); next !== null && next <= instant; next = this.#nextWake()) {
      const driven = this.#driven;
      if (driven.length === 0) this.#clock.advanceTo(next);
      for (const { driver } of driven) driver.runUntil(next);
    }
    this.#clock.advanceTo(instant);
  }

  /** Who works now: it may be another one at any time. */
  get #driven(): readonly Driven[] {
    return [...this.controller.processes, ...this.#agents];
  }

  #nextWake(): Instant | null {
    const wakes = this.#driven.map(({ driver }) => driver.nextWake());
    const wake = earliest([this.#clock.nextWake(), ...wakes]);
    return wake === null ? null : Math.max(this.#clock.now(), wake);
  }
}

function pressureAgent(
  { cluster, clock, onNotice }: AgentsOptions,
  config: Partial<PressureConfig>,
  random: Random,
): Driven {
  const machine = createPressureMachine(config);
  const loop = new PressureLoop({ machine, random, watches: () => true });
  const { exchange } = cluster;
  return { driver: new VirtualDriver({ loop, exchange, clock, onNotice, values: true }) };
}
