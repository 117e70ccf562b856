// The kube-controller-manager of a story: it evicts for taints, and watches over nodes.
import type { Exchange, Random, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type UpstreamLoopOptions,
  upstreamLoop,
  upstreamUserAgent,
} from '../../src/client/upstream-manager.ts';
import type { Notice } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { MachineClock } from '../world/machine-clock.ts';
import { asUser, inTurn, upstreamUser } from './users.ts';

export interface KubeControllerManagerOptions
  extends Pick<UpstreamLoopOptions, 'nodes' | 'taintEviction'> {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly exchange: Exchange;
  readonly onNotice: (notice: Notice) => void;
}

/** Forgets all it knows with each start; it needs no lease. */
export class KubeControllerManager {
  readonly #options: KubeControllerManagerOptions;
  #driver: VirtualDriver | null = null;
  #hangUp: () => void = () => {};

  constructor(options: KubeControllerManagerOptions) {
    this.#options = options;
  }

  get isDown(): boolean {
    return this.#driver === null;
  }

  /** Begins with empty hands, on a machine whose clock is off by so much and is never corrected. */
  start(offMs: number): void {
    if (this.#driver) return;
    const { clock, random, onNotice, nodes = {}, taintEviction = true } = this.#options;
    const clocks = new MachineClock(clock);
    clocks.set(offMs);
    const loop = upstreamLoop({ random, nodes, taintEviction });
    const exchange = this.#line();
    this.#driver = new VirtualDriver({ loop, clock, exchange, onNotice, clocks });
    this.#driver.feed({ kind: 'start' });
  }

  /** Without a word. */
  crash(): void {
    this.#driver = null;
    this.#hangUp();
  }

  nextWake(): number | null {
    return this.#driver?.nextWake() ?? null;
  }

  runUntil(instant: number): void {
    if (this.#driver) this.#driver.runUntil(instant);
    else this.#options.clock.advanceTo(instant);
  }

  /** Of one life; it goes by its machine's clock, so nobody tells it what time it is. */
  #line(): Exchange {
    const open = new Set<() => void>();
    let isOver = false;
    const { clock, exchange: server } = this.#options;
    const turns = inTurn(server, clock, () => isOver);
    const exchange = asUser(turns, upstreamUser, upstreamUserAgent);
    this.#hangUp = () => {
      isOver = true;
      for (const hangUp of open) hangUp();
    };
    return (request, sink) => {
      if (isOver) return () => {};
      const tell = (part: () => void): void => {
        if (!isOver) part();
      };
      const hangUp = exchange(request, {
        head: (status, { date: _, ...headers }) => tell(() => sink.head(status, headers)),
        data: (chunk) => tell(() => sink.data(chunk)),
        end: () => tell(() => sink.end()),
        reset: () => tell(() => sink.reset()),
      });
      open.add(hangUp);
      return hangUp;
    };
  }
}
