import type { ReportBug } from './bug.ts';
import { TimerHeap, type Waiting } from './timer-heap.ts';

/**
 * The cluster's clock, real or virtual. Everything in the cluster that waits (kubelets, graceful
 * deletion, watch timeouts) waits on this clock, so the same cluster runs in real time for the demo
 * and on a virtual clock for tests and simulation.
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

/** A timer that is set for longer, about 25 days, fires at once. */
const timerMsMax = 2 ** 31 - 1;

/** The process's clock. Its timers do not keep the process alive. */
export class RealClock implements Clock {
  readonly #reportBug: ReportBug | null;

  /** `reportBug`: whoever is told what callbacks throw; left out: it ends the process. */
  constructor(reportBug: ReportBug | null = null) {
    this.#reportBug = reportBug;
  }

  now(): number {
    return Date.now();
  }

  /** A long wait is several timers, one after another. */
  after(delayMs: number, callback: () => void): Timer {
    let handle: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const ms = Math.min(leftMs, timerMsMax);
      handle = setTimeout(
        () => (ms < leftMs ? wait(leftMs - ms) : this.#call(callback)),
        ms,
      ).unref();
    };
    wait(delayMs);
    return { cancel: () => clearTimeout(handle) };
  }

  #call(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      if (!this.#reportBug) throw error;
      this.#reportBug(error, 'a timer');
    }
  }
}

/** A callback that waits in the heap of its clock. */
class VirtualTimer implements Timer, Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  index = -1;
  readonly #heap: TimerHeap;

  constructor(heap: TimerHeap, at: number, order: number, callback: () => void) {
    this.#heap = heap;
    this.at = at;
    this.order = order;
    this.callback = callback;
  }

  cancel(): void {
    this.#heap.remove(this);
  }
}

/**
 * A clock that moves only on demand. Callbacks run in the order of their instants, equal
 * instants in the order in which they were set, so a run depends on nothing but its inputs.
 */
export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #waiting = new TimerHeap();

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): Timer {
    const at = this.#now + Math.max(0, delayMs);
    const timer = new VirtualTimer(this.#waiting, at, this.#order++, callback);
    this.#waiting.add(timer);
    return timer;
  }

  /** The instant of the earliest pending callback, or null when nothing waits. */
  nextWake(): number | null {
    return this.#waiting.first()?.at ?? null;
  }

  /** Moves to `instant`, running every callback due on the way at its own instant. */
  advanceTo(instant: number): void {
    for (
      let next = this.#waiting.first();
      next && next.at <= instant;
      next = this.#waiting.first()
    ) {
      this.#waiting.remove(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = Math.max(this.#now, instant);
  }

  /**
   * Moves from instant to instant until `condition` holds, at most to `deadline`; returns whether
   * it holds. The condition is read once after all callbacks of an instant have run.
   */
  advanceUntil(condition: () => boolean, deadline: number): boolean {
    while (!condition()) {
      const next = this.nextWake();
      if (next === null || next > deadline) return false;
      this.advanceTo(next);
    }
    return true;
  }
}
