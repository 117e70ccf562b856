// Waits between attempts: from 0.8 s to 30 s, doubled with each failure, each drawn at random from
// the upper half of its span.
import type { Instant, Millis } from '@taintmgr/core/time';

/** A number from 0 to below 1, as Math.random gives; handed in so that runs can be repeated. */
export type Random = () => number;

const waitMsMin: Millis = 800;
const waitMsMax: Millis = 30_000;
/** A wait that is asked for this long after the end of the one before starts from the shortest. */
const calmMs: Millis = 120_000;

/**
 * Waits between 0.8 s and 30 s that double with each failure, each drawn at random from the upper
 * half of its span so that many clients do not come back at once.
 */
export class Backoff {
  #attempt = 0;
  #endOfLastWait: Instant = Number.NEGATIVE_INFINITY;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The next wait is the shortest. */
  reset(): void {
    this.#attempt = 0;
  }

  /** The time to wait from `now` on; at least `atLeast`, which is what a server asked for. */
  next(now: Instant, atLeast: Millis = 0): Millis {
    if (now - this.#endOfLastWait >= calmMs) this.#attempt = 0;
    const ceiling = Math.min(waitMsMax, waitMsMin * 2 ** (this.#attempt + 1));
    if (ceiling < waitMsMax) this.#attempt += 1;
    const drawn = Math.round((ceiling * (1 + this.#random())) / 2);
    const wait = Math.max(drawn, atLeast);
    this.#endOfLastWait = now + wait;
    return wait;
  }
}

/** Remembers failures, as far as waits depend on them. */
interface Setback {
  /** The HTTP status; null: there was no answer. */
  readonly status: number | null;
  /** The wait that the server asks for; null: it does not. */
  readonly retryAfter: Millis | null;
}

/** The trouble of one that asks again and again, from the first failure to the next success. */
export class Trouble {
  #isOn = false;
  /** A server that is back may refuse a client at first that it allows later. */
  #wasAway = false;
  readonly #backoff: Backoff;
  /**
   * After 410, by which a server that answers asks for a list: the time of its absence does not
   * matter.
   */
  readonly #afterGone: Backoff;

  constructor(random: Random) {
    this.#backoff = new Backoff(random);
    this.#afterGone = new Backoff(random);
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** The trouble begins; the next try follows without a wait. */
  begin(): void {
    this.#isOn = true;
  }

  end(): void {
    this.#isOn = false;
    this.#wasAway = false;
  }

  /** The next wait is the shortest, but for one after 410. */
  reset(): void {
    this.#backoff.reset();
  }

  /** The wait before the next try; says too whether the server has been away, as far as is known here. */
  wait(now: Instant, { status, retryAfter }: Setback): { wait: Millis; isAway: boolean } {
    this.#isOn = true;
    this.#wasAway ||= (status ?? 500) >= 500 && retryAfter === null;
    const backoff = status === 410 ? this.#afterGone : this.#backoff;
    const wait = backoff.next(now, retryAfter ?? 0);
    return { wait, isAway: this.#wasAway && retryAfter === null };
  }
}
