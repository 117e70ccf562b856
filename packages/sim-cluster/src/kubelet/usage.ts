/** How much of something is used from now on, in bytes or pieces: always as much, or ever more. */
export type Amount = number | Growth;

/** A use that changes with time. */
export interface Growth {
  /** Where it begins; left out: where it is now. */
  readonly from?: number;
  readonly perSecond: number;
  /** Where it ends; left out: nowhere, or at nothing when it shrinks. */
  readonly until?: number;
}

interface Course {
  readonly at: number;
  readonly from: number;
  readonly perSecond: number;
  readonly until: number;
}

/** What is used of several things at any time. */
export class Meter<Thing extends string> {
  readonly #initial: Readonly<Record<Thing, number>>;
  readonly #courses = new Map<Thing, Course>();

  constructor(initial: Readonly<Record<Thing, number>>) {
    this.#initial = initial;
  }

  /** Sets the course of one thing as of `now`. */
  set(now: number, thing: Thing, amount: Amount): void {
    const growth = typeof amount === 'number' ? { from: amount, perSecond: 0 } : amount;
    const { from = this.read(now, thing), perSecond } = growth;
    const until = growth.until ?? (perSecond < 0 ? 0 : Number.POSITIVE_INFINITY);
    this.#courses.set(thing, { at: now, from, perSecond, until });
  }

  /** The use at that time, a whole number. */
  read(now: number, thing: Thing): number {
    const course = this.#courses.get(thing);
    if (!course) return this.#initial[thing];
    const { at, from, perSecond, until } = course;
    const value = from + (perSecond * (now - at)) / 1000;
    if (perSecond === 0) return Math.round(from);
    return Math.round(perSecond > 0 ? Math.min(value, until) : Math.max(value, until));
  }
}
