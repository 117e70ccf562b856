// Runs a loop in real time: one timer, requests, abort.
import type { Event } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Notice } from '../controller/engine-loop.ts';
import type { LoopNotice, OfKind, RunningLoop } from '../controller/loop-parts.ts';
import { ApiError, ConnectionError } from '../transport/errors.ts';
import type { Transport } from '../transport/sink.ts';
import { timerMsMax } from '../transport/timers.ts';
import { LoopClock, type MachineClocks, Runner } from './runner.ts';

/** A loop, the way to its API server, and how long `drive` waits for a way in. */
export interface DriveOptions<E = Event, N extends OfKind = Notice> {
  /** The loop to run. */
  readonly loop: RunningLoop<E, N>;
  /** Sends its requests. */
  readonly transport: Transport;
  /** Aborted: watches end at once, evictions under way end, then `drive` resolves. */
  readonly signal: AbortSignal;
  /** Called for each notice, in order; `wall` is what the cluster's clock shows. */
  readonly onNotice: (notice: N, wall: Instant) => void;
  /**
   * The time a collection may fail before everything was read once: at the first failure after that time `drive`
   * rejects. 10 s when left out. Infinity: it never rejects for what is outside, not for a refusal either, as
   * in a controller, which waits for its API server, its credentials and its rights.
   */
  readonly patienceMs?: Millis;
  /** Left out: those of this machine. */
  readonly clocks?: MachineClocks;
  /**
   * Called once, with the way to send the machine events that no API server sends, e.g.
   * resumeEvictions, and with the loop's time, which takes in clock changes first.
   */
  readonly onStart?: (send: (event: E) => void, now: () => Instant) => void;
}

/**
 * Runs the loop in real time until the signal is aborted. Connections that break, and answers that fail, are
 * notices (`reconnecting`), and are tried again. The promise is rejected with
 *
 * - ApiError: the API server has refused to show one collection three times in a row, by 401 or 403, at the
 *   start or later, as when a token expires. Before each try credentials are renewed where possible: a token file
 *   is read, a plugin is run.
 * - ApiError or ConnectionError: for `patienceMs` there were only errors of the server, or no answer, or no
 *   credentials to ask with, and not everything had been read once. Later, the loop waits as long as it takes.
 * - what onNotice or the machine throws.
 */
export function drive<E = Event, N extends OfKind = Notice>(
  options: DriveOptions<E, N>,
): Promise<void> {
  return new Promise((resolve, reject) => new Driver(options, resolve, reject).start());
}

class Driver<E, N extends OfKind> {
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
    const { loop, transport, onNotice, clocks, patienceMs = patienceMsDefault } = options;
    this.#clock = new LoopClock(clocks);
    const entry = new Entry(patienceMs);
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#runner = new Runner({
      loop,
      onNotice: (notice, wall) => {
        onNotice(notice, wall);
        entry.hear(this.#clock.now(), notice);
      },
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

  /** Once for all inputs of one turn: a hundred answers may have come at the same time. */
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

  /**
   * A single timer, set again only for an earlier instant: coming too early costs a harmless tick.
   */
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

const patienceMsDefault: Millis = 10_000;
/** An API server that has just started may refuse at first whom it allows later. */
const refusalsMax = 3;
const refusals: readonly (number | null)[] = [401, 403];

type Reading = Extract<
  LoopNotice,
  { kind: 'listed' | 'watching' | 'absent' | 'reconnecting' | 'synced' }
>;

function isReading(notice: OfKind): notice is Reading {
  const { kind } = notice;
  const isRead = kind === 'listed' || kind === 'watching' || kind === 'absent';
  return isRead || kind === 'reconnecting' || kind === 'synced';
}

/** The way into the API server, as the notices about its collections tell of it. */
class Entry {
  readonly #patienceMs: Millis;
  /** True if everything was read once. */
  #isIn = false;
  /** The collections that fail: since when, and how often in a row each was refused. */
  readonly #failing = new Map<string, { readonly since: Instant; readonly refused: number }>();

  constructor(patienceMs: Millis) {
    this.#patienceMs = patienceMs;
  }

  /** Throws ApiError or ConnectionError where there is no way in. */
  hear(now: Instant, notice: OfKind): void {
    if (this.#patienceMs === Number.POSITIVE_INFINITY || !isReading(notice)) return;
    if (notice.kind === 'synced') {
      this.#isIn = true;
      return;
    }
    const collection = `${notice.resource} ${notice.nodeName ?? ''}`;
    if (notice.kind !== 'reconnecting') {
      this.#failing.delete(collection);
      return;
    }
    const { failure } = notice;
    const before = this.#failing.get(collection) ?? { since: now, refused: 0 };
    const refused = refusals.includes(failure.status) ? before.refused + 1 : 0;
    this.#failing.set(collection, { ...before, refused });
    const isOverdue = !this.#isIn && now - before.since >= this.#patienceMs;
    if (refused < refusalsMax && !isOverdue) return;
    if (failure.status !== null) throw new ApiError(failure);
    throw new ConnectionError('the API server', failure.message, failure.stage);
  }
}
