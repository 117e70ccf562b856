// When a node answers, and what the times that it names say of its clock.
import type { Instant, Millis } from '../../kernel/time.ts';
import type { Sample } from './observation.ts';

/** A node that was not heard of for so many times the usual while is not just asked seldom. */
const usualMax = 3;

/** Nothing is known of a lead that was not seen for twice as long: the clock may have been set right. */
const leadMs: Millis = 600_000;

/** What the answers of one node tell, one after the other, besides what is in them. */
export class AnswerTimes {
  /** The greatest since then, and in such a time before. */
  #lead: Millis = 0;
  #leadBefore: Millis = 0;
  #leadSince: Instant = Number.NEGATIVE_INFINITY;
  /** When it answered last, or failed to; null: never. */
  #last: Instant | null = null;
  #isFailed = false;
  /** How long after the time before that. */
  #spacing: Millis = 0;

  /**
   * By so much at least its clock is ahead of ours, as far as was seen: no sample comes before it
   * was taken. Where it was set right, later samples are waited for a while longer.
   */
  get lead(): Millis {
    return Math.max(this.#lead, this.#leadBefore);
  }

  /**
   * The node answered. How long after the time before that may be, as often as it was asked so far:
   * one that is asked seldom was not out of sight. 0 where it failed to answer the time before.
   */
  answered(now: Instant): Millis {
    const usual = this.#isFailed ? 0 : this.#spacing;
    this.#asked(now, false);
    return usualMax * usual;
  }

  /** The node was asked and did not answer. */
  failed(now: Instant): void {
    this.#asked(now, true);
  }

  /** These samples, which should be without fault, came at `now`. */
  came(now: Instant, samples: readonly Sample[]): void {
    if (now - this.#leadSince >= leadMs) {
      this.#leadBefore = this.#lead;
      this.#lead = 0;
      this.#leadSince = now;
    }
    const leads = samples.map(({ time }) => (time === null ? 0 : time - now));
    this.#lead = Math.max(this.#lead, ...leads);
  }

  #asked(now: Instant, isFailed: boolean): void {
    this.#spacing = this.#last === null ? 0 : now - this.#last;
    this.#last = now;
    this.#isFailed = isFailed;
  }
}
