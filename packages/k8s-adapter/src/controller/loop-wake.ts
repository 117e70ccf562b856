// When a loop is to be called, remembered until something changes it.
import type { Instant, Millis } from '@taintmgr/core/time';

/** Where it is read, when it has to be. */
export interface WakeSite {
  /** When its machine is to be called, by that which is known of all the others; null: never. */
  readonly withMachine: (others: Instant | null) => Instant | null;
  /** When any of the others is to be called. */
  readonly ofOthers: () => Instant | null;
}

/** Asking all parts takes longer than most of what is heard; an event changes when the machine is due only. */
export class LoopWake {
  readonly #site: WakeSite;
  /** Undefined: not asked since something was heard. */
  #at: Instant | null | undefined;
  #ofOthers: Instant | null | undefined;
  #heardAt: Instant = Number.NEGATIVE_INFINITY;

  constructor(site: WakeSite) {
    this.#site = site;
  }

  /** When something was last heard. */
  get heardAt(): Instant {
    return this.#heardAt;
  }

  /** When to call with a tick; null: not before something is heard. */
  next(): Instant | null {
    if (this.#at !== undefined) return this.#at;
    if (this.#ofOthers === undefined) this.#ofOthers = this.#site.ofOthers();
    this.#at = this.#site.withMachine(this.#ofOthers);
    return this.#at;
  }

  /**
   * For how long a tick is due that has not come. What becomes known may have been due for days, and for
   * the tick it is only now.
   */
  lateBy(now: Instant): Millis {
    const wake = this.next();
    return wake === null ? 0 : Math.max(0, now - Math.max(wake, this.#heardAt));
  }

  /** Something is heard, of which nothing may come. */
  heard(now: Instant): void {
    this.#heardAt = now;
  }

  /** The machine may be due otherwise now. */
  forget(): void {
    this.#at = undefined;
  }

  /** And any of the others. */
  forgetOthers(): void {
    this.#ofOthers = undefined;
  }
}
