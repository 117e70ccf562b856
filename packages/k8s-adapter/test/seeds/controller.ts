import { type Config, createEngine } from '@taintmgr/core';
import type { VirtualClock, Witness } from '@taintmgr/sim-cluster';
import { Loop, type Notice } from '../../src/loop.ts';
import { VirtualDriver } from '../../src/virtual.ts';
import type { Draw } from './draw.ts';
import type { Network } from './network.ts';
import type { Sabotage } from './sabotage.ts';

/** What a controller is made with each time it starts. */
export interface ControllerOptions {
  readonly clock: VirtualClock;
  readonly network: Network;
  readonly witness: Witness;
  readonly draw: Draw;
  readonly config: Partial<Config>;
  readonly sabotage: Sabotage;
  readonly onNotice: (notice: Notice) => void;
}

/**
 * The whole controller, which can crash and start anew: then nothing is carried over but what stands
 * in the API. It can also stand still for a while, as a process that gets no processor.
 */
export class Controller {
  readonly #options: ControllerOptions;
  #driver: VirtualDriver | null = null;
  #frozen = false;
  #stopped = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
  }

  get state(): 'down' | 'running' | 'frozen' {
    if (!this.#driver) return 'down';
    return this.#frozen ? 'frozen' : 'running';
  }

  /** Whether it was asked to stop and begins nothing new. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  start(): void {
    this.#stopped = false;
    const { clock, network, witness, draw, config, sabotage, onNotice } = this.#options;
    witness.beginRun();
    const engine = createEngine(sabotage.config?.(config) ?? config);
    const { viewAgeMsMax } = sabotage;
    const loop = new Loop({
      machine: sabotage.machine?.(engine) ?? engine,
      random: draw.random,
      leases: config.lifecycle != null,
      ...(viewAgeMsMax !== undefined && { viewAgeMsMax }),
    });
    this.#driver = new VirtualDriver({ loop, clock, exchange: network.exchange, onNotice });
    this.#driver.feed({ kind: 'start' });
  }

  /** Without a word, in the middle of whatever it does. */
  crash(): void {
    this.#options.network.disconnect();
    this.#options.witness.blind();
    this.#driver = null;
    this.#frozen = false;
  }

  /** As on a signal: it begins nothing new. */
  stop(): void {
    this.#stopped = true;
    this.#driver?.feed({ kind: 'stop' });
  }

  freeze(): void {
    this.#frozen = true;
    this.#options.network.holdBack();
  }

  /** It goes on; its timers may be looked at before the network, or after. */
  thaw(timersFirst: boolean): void {
    this.#frozen = false;
    if (timersFirst) this.#driver?.feed({ kind: 'tick' });
    this.#options.network.letThrough();
  }

  /** Time passes. */
  runUntil(instant: number): void {
    if (this.#driver && !this.#frozen) this.#driver.runUntil(instant);
    else this.#options.clock.advanceTo(instant);
  }
}
