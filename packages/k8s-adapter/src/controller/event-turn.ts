import type { Instant, Millis } from '@taintmgr/core/time';

/** This number of requests of commands under way is a burst; fewer leave room for Events. */
const burstFrom = 8;
/**
 * A burst is over when nothing happens for this time: answers that come together leave short gaps.
 */
const lullMs: Millis = 250;
/** Longer where answers are owed: a slow server lets requests begin in waves, a stuck one none. */
const slowLullMs: Millis = 5000;
/** On a server that takes 170 evictions a second, 20,000 of them are no longer than this. */
const sustainedMs: Millis = 120_000;
/** The requests for which one Event may be written: so a tenth of all requests under sustained load. */
const requestsPerEvent = 9;
const creditMax = 10;

/**
 * When Events about pods have their turn. Events yield to the requests of commands, as both compete
 * for the same connection and the same server: while a burst lasts they wait, and delay no
 * eviction. A burst that does not end gives them one request for each nine of commands.
 */
export class EventTurn {
  #underWay = 0;
  #burstSince: Instant = Number.NEGATIVE_INFINITY;
  /** When one of its requests began or ended last. */
  #busyAt: Instant = Number.NEGATIVE_INFINITY;
  #credit = 0;

  /** A request of a command goes out. */
  begun(now: Instant): void {
    const isOver = now >= this.#endsAt;
    this.#underWay += 1;
    if (this.#underWay < burstFrom) return;
    if (isOver) {
      this.#burstSince = now;
      this.#credit = 0;
    }
    this.#busyAt = now;
    if (now - this.#burstSince < sustainedMs) return;
    this.#credit = Math.min(creditMax, this.#credit + 1 / requestsPerEvent);
  }

  /** A request of a command has ended; the next one begins in a moment. */
  ended(now: Instant): void {
    if (this.#underWay >= burstFrom) this.#busyAt = now;
    this.#underWay -= 1;
  }

  /** When the next Event may be written, if no further request begins. */
  get opensAt(): Instant {
    // The tiny addition makes up for what binary fractions lose.
    return this.#credit + 1e-9 >= 1 ? Number.NEGATIVE_INFINITY : this.#endsAt;
  }

  /** Tells whether a burst is going on. */
  isBurst(now: Instant): boolean {
    return now < this.#endsAt;
  }

  /** Takes the turn for one Event, if it is there. */
  take(now: Instant): boolean {
    if (now < this.opensAt) return false;
    if (this.isBurst(now)) this.#credit -= 1;
    return true;
  }

  get #endsAt(): Instant {
    return this.#busyAt + (this.#underWay >= burstFrom ? slowLullMs : lullMs);
  }
}
