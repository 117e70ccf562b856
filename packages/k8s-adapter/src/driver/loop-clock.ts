import type { Instant, Millis } from '@taintmgr/core/time';

/** What the machine says of time. */
export interface MachineClocks {
  /** What passes; nobody can set it. A machine that is suspended may not count that time. */
  monotonic(): Millis;
  /** What people set. */
  wall(): Instant;
}

const realClocks: MachineClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** The two clocks of a machine drift apart by less within a lease; a step is rarely that short. */
const stepMsMin: Millis = 500;

/**
 * The loop's time, which nobody can set: the wall clock of the start, and from then on only what
 * passes. So it never goes back or jumps, whatever is done to the wall clock. That the two come
 * apart is still worth knowing: either somebody has set the clock, or the machine was suspended;
 * they look the same from inside.
 */
export class LoopClock {
  readonly #clocks: MachineClocks;
  readonly #startedAt: Instant;
  readonly #origin: Millis;
  /** How far the wall clock is ahead of our time, as far as the loop knows. */
  #ahead: Millis = 0;

  constructor(clocks: MachineClocks = realClocks) {
    this.#clocks = clocks;
    this.#startedAt = clocks.wall();
    this.#origin = clocks.monotonic();
  }

  now(): Instant {
    return this.#startedAt + Math.floor(this.#clocks.monotonic() - this.#origin);
  }

  /** How far the wall clock was set since the last call, back if negative; 0: it was not. */
  step(): Millis {
    const by = this.#clocks.wall() - this.now() - this.#ahead;
    if (Math.abs(by) < stepMsMin) return 0;
    this.#ahead += by;
    return by;
  }
}
