import type { Instant } from '../time.ts';

interface Waiting {
  readonly deadline: Instant;
  /** When a limit may let it through; null: when there is room. */
  readonly until: Instant | null;
}

/**
 * The pods that are due and that limits hold back. Whenever a limit may have opened, all of them
 * ask again, the earliest deadline first: who comes later must not take the place of who waits.
 */
export class Waitlist {
  readonly #waiting = new Map<string, Waiting>();
  #askAt: Instant | null = null;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  put(uid: string, deadline: Instant, until: Instant | null): void {
    this.#waiting.set(uid, { deadline, until });
    if (until !== null) this.nudge(until);
  }

  delete(uid: string): void {
    this.#waiting.delete(uid);
  }

  /** Everyone asks again at `at`, or earlier if that was to be so already. */
  nudge(at: Instant): void {
    this.#askAt = this.#askAt === null ? at : Math.min(this.#askAt, at);
  }

  nextWake(): Instant | null {
    return this.isEmpty ? null : this.#askAt;
  }

  /** Those who ask at `now`, in the order in which they are let through; empty before its time. */
  ask(now: Instant): readonly string[] {
    if (this.#askAt === null || this.#askAt > now) return [];
    this.#askAt = null;
    return [...this.#waiting]
      .sort(([a, { deadline: x }], [b, { deadline: y }]) => x - y || (a < b ? -1 : 1))
      .map(([uid]) => uid);
  }
}
