// Runs a loop in real time: one timer, requests, abort.
import type { Event } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Notice } from '../controller/engine-loop.ts';
import type { RunningLoop } from '../controller/loop-parts.ts';
import type { Transport } from '../transport/sink.ts';
import { timerMsMax } from '../transport/timers.ts';
import { LoopClock, type MachineClocks, Runner } from './runner.ts';

export interface DriveOptions<E = Event, N = Notice> {
  readonly loop: RunningLoop<E, N>;
  readonly transport: Transport;
  /** Aborted: watches end at once, evictions under way come to their end, then `drive` resolves. */
  readonly signal: AbortSignal;
  /** Called for each notice, in order; `wall` is what the cluster's clock shows. */
  readonly onNotice: (notice: N, wall: Instant) => void;
  /** Left out: those of this machine. */
  readonly clocks?: MachineClocks;
  /**
   * Called once, with the way to send the machine what no API server says, e.g. resumeEvictions,
   * and with what the time is for the loop, after it has heard of what was done to the clocks.
   */
  readonly onStart?: (send: (event: E) => void, now: () => Instant) => void;
}

/**
 * Runs the loop in real time until the signal is aborted. Whatever goes wrong outside is an input
 * of the loop; the promise is rejected only for a mistake of ours or of onNotice.
 */
export function drive<E = Event, N = Notice>(options: DriveOptions<E, N>): Promise<void> {
  return new Promise((resolve, reject) => new Driver(options, resolve, reject).start());
}

class Driver<E, N> {
  #timer: NodeJS.Timeout | null = null;
  #armedFor: Instant = Number.POSITIVE_INFINITY;
  #arming: NodeJS.Immediate | null = null;
  #finished = false;
  readonly #clock: LoopClock;
  readonly #runner: Runner<E, N>;
  readonly #options: DriveOptions<E, N>;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;

  constructor(options: DriveOptions<E, N>, resolve: () => void, reject: (error: unknown) => void) {
    const { loop, transport, onNotice, clocks } = options;
    this.#clock = new LoopClock(clocks);
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#runner = new Runner({
      loop,
      onNotice,
      clock: this.#clock,
      send: (request, sink) => transport.send(request, sink),
      around: (work) => this.#around(work),
    });
  }

  start(): void {
    const { signal, onStart } = this.#options;
    onStart?.(
      (event) => this.#runner.feed({ kind: 'event', event }),
      () => this.#runner.look(),
    );
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (!signal.aborted) this.#runner.feed({ kind: 'start' });
    else this.#onAbort();
  }

  readonly #onAbort = (): void => this.#runner.feed({ kind: 'stop' });

  #around(work: () => void): void {
    if (this.#finished) return;
    try {
      work();
      if (this.#options.loop.closed) this.#finish(this.#resolve);
      else this.#armSoon();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#finish(() => this.#reject(error));
  }

  /** Once for all that is heard in one turn: a hundred answers may have come at the same time. */
  #armSoon(): void {
    this.#arming ??= setImmediate(() => {
      this.#arming = null;
      try {
        this.#arm();
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  /** One timer, set anew only for an earlier instant: coming too early costs a harmless tick. */
  #arm(): void {
    const wake = this.#options.loop.nextWake();
    if (wake === null || wake >= this.#armedFor) return;
    const delay = wake - this.#clock.now();
    // A timer would take a millisecond or more, for each eviction that makes room for another.
    if (delay <= 0) this.#runner.feed({ kind: 'tick' });
    else this.#wakeAt(wake, delay);
  }

  #wakeAt(wake: Instant, delay: Millis): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#armedFor = wake;
    this.#timer = setTimeout(
      () => {
        this.#armedFor = Number.POSITIVE_INFINITY;
        this.#runner.feed({ kind: 'tick' });
      },
      // A longer wait is cut into several.
      Math.min(delay, timerMsMax),
    );
  }

  #finish(end: () => void): void {
    this.#finished = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#arming) clearImmediate(this.#arming);
    this.#runner.hangUp();
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    end();
  }
}
