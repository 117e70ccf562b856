import { type Config, createEngine, type Engine } from '@taintmgr/core';
import type { PolicyObject } from '@taintmgr/core/policy';
import { createPressureMachine, type PressureConfig } from '@taintmgr/core/pressure';
import { earliest, type Instant } from '@taintmgr/core/time';
import {
  Loop,
  type Notice,
  PressureLoop,
  type PressureNotice,
  VirtualDriver,
} from '@taintmgr/k8s-adapter';
import { type Cluster, seededRandom, type VirtualClock } from '@taintmgr/sim-cluster';

export interface AgentsOptions {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly config: Partial<Config>;
  readonly policies: readonly PolicyObject[];
  /** Null: nobody watches what nodes run out of. */
  readonly pressure: Partial<PressureConfig> | null;
  readonly onNotice: (notice: Notice | PressureNotice) => void;
}

/** One loop that is driven on the clock that all share. */
interface Driven {
  readonly loop: { nextWake(): Instant | null };
  readonly driver: {
    feed(input: { readonly kind: 'start' }): void;
    runUntil(instant: Instant): void;
  };
}

/** All of ours that works in the cluster: the engine, and the node pressure agent beside it. */
export class Agents {
  readonly engine: Engine;
  readonly #clock: VirtualClock;
  readonly #driven: readonly Driven[];

  constructor(options: AgentsOptions) {
    const { cluster, clock, seed, config, policies, pressure, onNotice } = options;
    this.engine = createEngine({ lifecycle: {}, ...config });
    this.#clock = clock;
    const { exchange } = cluster;
    const random = seededRandom(seed);
    const loop = new Loop({
      machine: this.engine,
      random,
      policies,
      leases: true,
      // Nothing is under way between this API server and the engine: what was heard is what there is.
      viewAgeMsMax: Number.POSITIVE_INFINITY,
      daemonSets: config.lifecycle?.enforcement === 'pods',
    });
    const driver = new VirtualDriver({ loop, exchange, clock, onNotice, values: true });
    // The engine hears of them at once, by a shorter way than over writes, watches and readers.
    cluster.reportRenewals((nodeName, renewedAt) => {
      if (!loop.synced || loop.cutOffSince !== null) return false;
      driver.feed({
        kind: 'event',
        event: { kind: 'leaseUpsert', lease: { nodeName, renewedAt } },
      });
      return true;
    });
    const driven: Driven[] = [{ loop, driver }];
    if (pressure) {
      const machine = createPressureMachine(pressure);
      const agent = new PressureLoop({ machine, random, watches: () => true });
      driven.push({
        loop: agent,
        driver: new VirtualDriver({ loop: agent, exchange, clock, onNotice, values: true }),
      });
    }
    this.#driven = driven;
  }

  start(): void {
    for (const { driver } of this.#driven) driver.feed({ kind: 'start' });
  }

  /** Moves time to `instant`; everybody does what is due on the way at its own instant. */
  runUntil(instant: Instant): void {
    const [only, another] = this.#driven;
    if (only && !another) {
      only.driver.runUntil(instant);
      return;
    }
    for (let next = this.#nextWake(); next !== null && next <= instant; next = this.#nextWake()) {
      for (const { driver } of this.#driven) driver.runUntil(next);
    }
    this.#clock.advanceTo(instant);
  }

  #nextWake(): Instant | null {
    const all = [this.#clock, ...this.#driven.map(({ loop }) => loop)].map((one) => one.nextWake());
    const wake = earliest(all);
    return wake === null ? null : Math.max(this.#clock.now(), wake);
  }
}
