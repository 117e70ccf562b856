// The cluster's wall clock beside the engine's own time, which only measures what passes.
import { finite, type Instant, type Millis } from './time.ts';

/** The cluster's clock beside the engine's own time. */
export interface ClusterTime {
  /** The time that the cluster's clock shows at `now`. */
  wall(now: Instant): Instant;
  /** When, by our time, the cluster's clock shows `wall`. */
  when(wall: Instant): Instant;
  /** Since when, by our time, something holds that says so itself; unsaid or in the future: `now`. */
  since(now: Instant, written: Instant | null | undefined): Instant;
}

/**
 * The one place where two times meet. `now` only measures what passes: waits, rates, how long
 * nothing was heard. Instants that the API stores are of the cluster's clock, which people and
 * machines set: a taint's start, a pod's binding, a deadline. The event `clock` says how far that
 * clock is ahead of `now`; before the first the two are one.
 */
export class ClusterClock implements ClusterTime {
  #ahead: Millis = 0;

  set(ahead: Millis): void {
    this.#ahead = ahead;
  }

  wall(now: Instant): Instant {
    return now + this.#ahead;
  }

  when(wall: Instant): Instant {
    return wall - this.#ahead;
  }

  since(now: Instant, written: Instant | null | undefined): Instant {
    const instant = finite(written);
    return instant === null ? now : Math.min(now, this.when(instant));
  }
}
