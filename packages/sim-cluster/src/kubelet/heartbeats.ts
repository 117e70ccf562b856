// The heartbeats of all kubelets: one timer for all of them.
import type { Clock, Timer } from '../kernel/clock.ts';

/** A heartbeat that goes on until it is cancelled. */
interface Beat extends Timer {
  /** When it is due next. */
  at: number;
  readonly work: () => void;
  isOver: boolean;
}

/**
 * What is done again and again by many, with the same period for all. Who has had its turn is the last
 * one to have another: so they wait in a row, of which only the first needs a timer.
 */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #periodMs: number;
  /** In the order in which they are due; those before `#first` have had their turn. */
  #row: Beat[] = [];
  #first = 0;
  /** How many are not over. */
  #alive = 0;
  #timer: Timer | null = null;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Calls `work` after each period, until it is cancelled. */
  begin(work: () => void): Timer {
    const beat: Beat = {
      at: this.#clock.now() + this.#periodMs,
      work,
      isOver: false,
      cancel: () => this.#end(beat),
    };
    this.#alive++;
    this.#row.push(beat);
    this.#timer ??= this.#clock.after(this.#periodMs, () => this.#run());
    return beat;
  }

  #end(beat: Beat): void {
    if (beat.isOver) return;
    beat.isOver = true;
    if (--this.#alive > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #run(): void {
    const now = this.#clock.now();
    for (let next = this.#next(); next && next.at <= now; next = this.#next()) {
      this.#first++;
      next.at = now + this.#periodMs;
      this.#row.push(next);
      next.work();
    }
    this.#forgetPast();
    const next = this.#next();
    this.#timer = next ? this.#clock.after(next.at - now, () => this.#run()) : null;
  }

  /** The first that is still to come. */
  #next(): Beat | undefined {
    while (this.#row[this.#first]?.isOver) this.#first++;
    return this.#row[this.#first];
  }

  #forgetPast(): void {
    if (this.#first * 2 < this.#row.length) return;
    this.#row = this.#row.slice(this.#first);
    this.#first = 0;
  }
}
