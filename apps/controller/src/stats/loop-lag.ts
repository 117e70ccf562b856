import type { Millis } from '@taintmgr/core/time';

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
