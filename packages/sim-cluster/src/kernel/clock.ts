import type { ReportBug } from './bug.ts';

// The timers of a virtual clock in a heap.

/** A callback that waits for its instant; `index` is its place in the heap, -1 when it has left. */
interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  index: number;
}

/** Pending callbacks, earliest first; a binary heap, so thousands of timers stay cheap. */
class TimerHeap {
  readonly #items: Waiting[] = [];

  /** The earliest entry, or null when nothing waits. */
  first(): Waiting | null {
    return this.#items[0] ?? null;
  }

  add(waiting: Waiting): void {
    this.#items.push(waiting);
    this.#rise(waiting, this.#items.length - 1);
  }

  /** Takes an entry out; one that has already left is ignored. */
  remove(waiting: Waiting): void {
    const { index } = waiting;
    if (index < 0) return;
    waiting.index = -1;
    const last = this.#items.pop();
    if (!last || last === waiting) return;
    this.#rise(last, index);
    this.#sink(last, last.index);
  }

  #rise(waiting: Waiting, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#items[parentIndex];
      if (!parent || !isEarlier(waiting, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(waiting, index);
  }

  #sink(waiting: Waiting, from: number): void {
    let index = from;
    for (;;) {
      const left = this.#items[2 * index + 1];
      if (!left) break;
      const right = this.#items[2 * index + 2];
      const child = right && isEarlier(right, left) ? right : left;
      if (!isEarlier(child, waiting)) break;
      const childIndex = child.index;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(waiting, index);
  }

  #place(waiting: Waiting, index: number): void {
    this.#items[index] = waiting;
    waiting.index = index;
  }
}

function isEarlier(a: Waiting, b: Waiting): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

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
  /** Drops the callback. */
  cancel(): void;
}

/** A timer that is set for longer, about 25 days, fires at once. */
const timerMsMax = 2 ** 31 - 1;

/** The process's clock. Its timers do not keep the process alive. */
export class RealClock implements Clock {
  readonly #reportBug: ReportBug | null;

  /** `reportBug` receives errors that callbacks throw; left out: an error ends the process. */
  constructor(reportBug: ReportBug | null = null) {
    this.#reportBug = reportBug;
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }

  /** A long wait is several timers, one after another; a time in the past is due now. */
  after(delayMs: number, callback: () => void): Timer {
    let handle: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const ms = Math.min(leftMs, timerMsMax);
      handle = setTimeout(
        () => (ms < leftMs ? wait(leftMs - ms) : this.#call(callback)),
        ms,
      ).unref();
    };
    wait(Math.max(0, delayMs));
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

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return this.#now;
  }

  /** Calls `callback` once, `delayMs` from now, when the clock is moved there. */
  after(delayMs: number, callback: () => void): Timer {
    const at = this.#now + Math.max(0, delayMs);
    const timer = new VirtualTimer(this.#waiting, at, this.#order++, callback);
    this.#waiting.add(timer);
    return timer;
  }

  /** The instant of the earliest pending callback, in milliseconds; null when nothing waits. */
  nextWake(): number | null {
    return this.#waiting.first()?.at ?? null;
  }

  /** Moves to `instant` (milliseconds since the Unix epoch), running every callback due on the way at its own instant. */
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
