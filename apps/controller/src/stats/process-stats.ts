import { formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import { type ClockNotice, describeClock, type Notice } from '@taintmgr/k8s-adapter';
import type { Leadership } from '../leadership/leadership.ts';
import type { PendingEvictions } from './pending-evictions.ts';
import type { RunningController } from './running-controller.ts';
import type { TakeoverScore } from './takeover-score.ts';

/** How this process is doing, for its health checks, metrics and pages. */
export interface ProcessStats {
  readonly startedAt: Date;
  readonly loopLag: Pick<LoopLag, 'lag'>;
  readonly pending: PendingEvictions;
  readonly clock: ClockChange;
  readonly leadership: Leadership;
  /** Null: there is no takeover. */
  readonly takeover: TakeoverScore | null;
  /** Null: it has not begun. */
  running: RunningController | null;
  /** There is no pod of the name that it was given as its own: its last replica is not spared. Left out: there is. */
  ownPodIsMissing?: true;
  /** Told to stop. */
  stopping: boolean;
}

const beatMs: Millis = 500;
/** For so long a late beat is remembered. */
const memoryMs: Millis = 15_000;

/** Measures the loop lag, to notice when this process stands still. */
export class LoopLag {
  readonly #late: { readonly at: number; readonly by: Millis }[] = [];
  readonly #timer: NodeJS.Timeout;
  #beatAt = performance.now();

  constructor() {
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  /** How late the latest of the last beats was. */
  lag(): Millis {
    this.#forget(performance.now());
    return Math.max(0, ...this.#late.map(({ by }) => by));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = performance.now();
    this.#late.push({ at: now, by: Math.max(0, now - this.#beatAt - beatMs) });
    this.#beatAt = now;
    this.#forget(now);
  }

  #forget(now: number): void {
    while ((this.#late[0]?.at ?? now) < now - memoryMs) this.#late.shift();
  }
}

/** The last thing that was done to clocks, for health checks and pages. */
export class ClockChange {
  #last: { readonly at: Instant; readonly notice: ClockNotice } | null = null;

  observe(notice: Notice, at: Instant): void {
    if (notice.kind === 'clockStepped' || notice.kind === 'serverClockMoved') {
      this.#last = { at, notice };
    }
  }

  /** What it was; null: nothing. */
  get last(): string | null {
    return this.#last && `${describeClock(this.#last.notice)} (${formatTime(this.#last.at)})`;
  }

  text(): string {
    return this.last ?? 'steady';
  }
}
