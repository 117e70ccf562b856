/**
 * The cluster's own clock. Everything in the cluster that waits (kubelets, graceful deletion,
 * watch timeouts) waits on this clock, so the same cluster runs in real time for the demo and on
 * a virtual clock for tests and simulation.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once, `delayMs` from now (0 is allowed; never synchronously). */
  after(delayMs: number, callback: () => void): Timer;
}

/** A pending callback; cancelling twice or after it ran does nothing. */
export interface Timer {
  cancel(): void;
}

/** The process's clock. Its timers do not keep the process alive. */
export class RealClock implements Clock {
  now(): number {
    return Date.now();
  }

  after(delayMs: number, callback: () => void): Timer {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  }
}

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that moves only when told to. Callbacks run in the order of their instants, equal
 * instants in the order in which they were set, so a run depends on nothing but its inputs.
 */
export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): Timer {
    const waiting = { at: this.#now + Math.max(0, delayMs), order: this.#order++, callback };
    this.#waiting.add(waiting);
    return { cancel: () => void this.#waiting.delete(waiting) };
  }

  /** The instant of the earliest pending callback, or null when nothing waits. */
  nextWake(): number | null {
    return this.#earliest()?.at ?? null;
  }

  /** Moves to `instant`, running every callback due on the way at its own instant. */
  advanceTo(instant: number): void {
    for (let next = this.#earliest(); next && next.at <= instant; next = this.#earliest()) {
      this.#waiting.delete(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = Math.max(this.#now, instant);
  }

  #earliest(): Waiting | null {
    let earliest: Waiting | null = null;
    for (const waiting of this.#waiting) {
      if (
        !earliest ||
        waiting.at < earliest.at ||
        (waiting.at === earliest.at && waiting.order < earliest.order)
      ) {
        earliest = waiting;
      }
    }
    return earliest;
  }
}
