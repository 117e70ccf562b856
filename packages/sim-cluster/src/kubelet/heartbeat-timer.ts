// A single timer for the heartbeats of all kubelets.
import type { Clock, Timer } from '../kernel/clock.ts';

/** A heartbeat that repeats until it is cancelled. */
interface Beat extends Timer {
  /** When it is due next. */
  at: number;
  readonly work: () => void;
  isOver: boolean;
}

/**
 * Repeats the heartbeats of many nodes with one period. The node that has just had its turn is the
 * last one to have another, so they wait in a row, and only the first needs a timer.
 */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #periodMs: number;
  /**
   * The beats in the order in which they are due, from `#first` to the end and on from the
   * beginning: the beat that has just run stands last.
   */
  #row: Beat[] = [];
  #first = 0;
  /** The number of heartbeats that are not cancelled. */
  #alive = 0;
  #timer: Timer | null = null;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /**
   * Calls `work` after each period, until it is cancelled; `firstMs`: when for the first time, which is a
   * period at most.
   */
  begin(work: () => void, firstMs: number = this.#periodMs): Timer {
    const at = this.#clock.now() + firstMs;
    const beat: Beat = { at, work, isOver: false, cancel: () => this.#end(beat) };
    this.#alive++;
    if (firstMs < this.#periodMs) this.#insert(beat);
    else {
      // No other heartbeat is due later, so it stands before the one that is due next.
      this.#row.splice(this.#first, 0, beat);
      this.#first = (this.#first + 1) % this.#row.length;
      this.#timer ??= this.#clock.after(firstMs, () => this.#run());
    }
    return beat;
  }

  /** Puts it before the first one that is due later. */
  #insert(beat: Beat): void {
    const index = this.#alive - 1 === this.#row.length ? this.#place(beat) : this.#placeAnew(beat);
    if (index > 0) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.after(beat.at - this.#clock.now(), () => this.#run());
  }

  /** Inserts a beat when all beats are alive; returns the number of beats before it. */
  #place(beat: Beat): number {
    const { length } = this.#row;
    let [from, to] = [0, length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#row[(this.#first + middle) % length] as Beat;
      if (other.at > beat.at) to = middle;
      else from = middle + 1;
    }
    const at = from === length ? this.#first : (this.#first + from) % length;
    this.#row.splice(at, 0, beat);
    const isBeforeFirst = from > 0 && at <= this.#first;
    if (isBeforeFirst) this.#first = (this.#first + 1) % this.#row.length;
    return from;
  }

  #placeAnew(beat: Beat): number {
    const inOrder = [...this.#row.slice(this.#first), ...this.#row.slice(0, this.#first)];
    const row = inOrder.filter(({ isOver }) => !isOver);
    const later = row.findIndex(({ at }) => at > beat.at);
    const index = later < 0 ? row.length : later;
    row.splice(index, 0, beat);
    this.#row = row;
    this.#first = 0;
    return index;
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
      next.at = now + this.#periodMs;
      this.#first = (this.#first + 1) % this.#row.length;
      next.work();
    }
    const next = this.#next();
    this.#timer = next ? this.#clock.after(next.at - now, () => this.#run()) : null;
  }

  /** The first that is still to come. */
  #next(): Beat | undefined {
    for (let next = this.#row[this.#first]; next; next = this.#row[this.#first]) {
      if (!next.isOver) return next;
      this.#row.splice(this.#first, 1);
      if (this.#first === this.#row.length) this.#first = 0;
    }
    return undefined;
  }
}
