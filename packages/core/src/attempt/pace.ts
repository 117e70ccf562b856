// How many requests may be under way at once, by how well the API server keeps up.
import { InFlight } from '../kernel/inflight.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import { blockerOf } from './blocker.ts';
import type { Outcome } from './outcome.ts';

/** An answer that took longer counts as a sign of overload. */
const slowAnswerMs: Millis = 5_000;
/** What an API server says that has too much to do. */
const overloadStatuses: readonly (number | null)[] = [429, 503, 504, null];

/**
 * The requests under way: as many as allowed while the API server keeps up, half as many each time
 * it shows that it does not, one more for each full round of answers afterwards.
 */
export class Pace {
  readonly #max: number;
  #limit: number;
  #cutAt: Instant = Number.NEGATIVE_INFINITY;
  readonly #inFlight: InFlight;
  readonly #sentAt = new Map<string, Instant>();

  /** `prefix` begins every id this one hands out. */
  constructor(prefix: string, max: number) {
    this.#max = max;
    this.#limit = max;
    this.#inFlight = new InFlight(prefix, max);
  }

  /** So many at once, from 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Whether one more may be sent. */
  get hasRoom(): boolean {
    return this.#sentAt.size < this.limit;
  }

  /** Takes a place for a request about `key`, and answers its id. */
  start(now: Instant, key: string): string {
    const id = this.#inFlight.start(key);
    this.#sentAt.set(id, now);
    return id;
  }

  /** Takes the end of a request: its key, or null for an id that is not outstanding. */
  finish(now: Instant, id: string, outcome: Outcome): string | null {
    const sentAt = this.#sentAt.get(id);
    if (sentAt === undefined) return null;
    this.#sentAt.delete(id);
    if (!isOverload(outcome) && now - sentAt <= slowAnswerMs) {
      this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
    } else if (sentAt >= this.#cutAt) {
      // Those sent before the last cut say nothing new.
      this.#limit = Math.max(1, this.#limit / 2);
      this.#cutAt = now;
    }
    return this.#inFlight.finish(id);
  }
}

function isOverload(outcome: Outcome): boolean {
  if (outcome.kind !== 'failed' || !overloadStatuses.includes(outcome.status)) return false;
  // A webhook says 429 as well.
  return blockerOf(outcome).code !== 'Intercepted';
}
