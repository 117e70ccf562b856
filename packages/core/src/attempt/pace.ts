import type { Instant, Millis } from '../kernel/time.ts';
import type { Outcome } from './outcome.ts';

/** An answer that took longer counts as a sign of overload. */
const slowAnswerMs: Millis = 5_000;
/** What an API server says that has too much to do. */
const overloadStatuses: readonly (number | null)[] = [429, 503, 504, null];

/**
 * How many commands may be under way at once: as many as allowed while the API server keeps up, half
 * as many each time it shows that it does not, one more for each full round of answers afterwards.
 */
export class Pace {
  readonly #max: number;
  #limit: number;
  #cutAt: Instant = Number.NEGATIVE_INFINITY;
  readonly #sentAt = new Map<string, Instant>();

  constructor(max: number) {
    this.#max = max;
    this.#limit = max;
  }

  /** So many at once, from 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Whether one more may be sent. */
  get hasRoom(): boolean {
    return this.#sentAt.size < this.limit;
  }

  sent(now: Instant, id: string): void {
    this.#sentAt.set(id, now);
  }

  /** Takes the end of a command; of those it was not told it takes no notice. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    const sentAt = this.#sentAt.get(id);
    if (sentAt === undefined) return;
    this.#sentAt.delete(id);
    if (!isOverload(outcome) && now - sentAt <= slowAnswerMs) {
      this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
    } else if (sentAt >= this.#cutAt) {
      // Those sent before the last cut say nothing new.
      this.#limit = Math.max(1, this.#limit / 2);
      this.#cutAt = now;
    }
  }
}

function isOverload(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && overloadStatuses.includes(outcome.status);
}
