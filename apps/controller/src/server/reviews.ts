import type { Millis } from '@taintmgr/core/time';
import { TokenBucket } from '../rate-limit/token-bucket.ts';
import { TtlCache } from './ttl-cache.ts';

/** More is asked than the API server is to be troubled with; to be tried again in a second. */
export class TooManyReviewsError extends Error {
  override readonly name = 'TooManyReviewsError';
  override readonly message = 'too many reviews, please try again later';
}

export interface ReviewOptions<T> {
  /** How long an answer holds. */
  readonly ttl: (answer: T) => Millis;
  /** Whether somebody who got this answer is to be served before strangers, for an hour. */
  readonly isGood: (answer: T) => boolean;
  /** A clock in milliseconds that does not go back. */
  readonly now: () => number;
}

const answersMax = 1000;
/** Under way at once, in all and of strangers. */
const inFlightMax = 32;
const strangersInFlightMax = 16;
/** How long a question that could not be answered is not asked again. */
const failureMs: Millis = 1000;
/** Whoever was let in of late does not queue with strangers. */
const trustMs: Millis = 3_600_000;
const [strangersPerSecond, strangersBurst] = [10, 20];
const [trustedPerSecond, trustedBurst] = [50, 100];

/**
 * Asks the API server about users, within bounds: answers hold a while, a question is asked once at
 * a time, and strangers can neither make us ask without end nor push out the answers about those
 * who were let in.
 */
export class Reviews<T> {
  readonly #good: TtlCache<T>;
  readonly #others: TtlCache<T>;
  readonly #failed: TtlCache<unknown>;
  readonly #trusted: TtlCache<true>;
  readonly #underWay = new Map<string, Promise<T>>();
  readonly #strangersBucket = new TokenBucket(strangersPerSecond, strangersBurst);
  readonly #trustedBucket = new TokenBucket(trustedPerSecond, trustedBurst);
  readonly #options: ReviewOptions<T>;

  constructor(options: ReviewOptions<T>) {
    const { now } = options;
    this.#options = options;
    this.#good = new TtlCache(answersMax, now);
    this.#others = new TtlCache(answersMax, now);
    this.#failed = new TtlCache(answersMax, now);
    this.#trusted = new TtlCache(answersMax, now);
  }

  /** The answer to a question. Rejects with TooManyReviewsError, or with what `ask` rejects with. */
  async answer(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#good.get(question) ?? this.#others.get(question);
    if (known !== undefined) return known;
    const failure = this.#failed.get(question);
    if (failure !== undefined) throw failure;
    const running = this.#underWay.get(question);
    if (running !== undefined) return await running;
    if (!this.#mayAsk(question)) throw new TooManyReviewsError();
    const asking = this.#ask(question, ask).finally(() => this.#underWay.delete(question));
    this.#underWay.set(question, asking);
    return await asking;
  }

  #mayAsk(question: string): boolean {
    const isTrusted = this.#trusted.get(question) !== undefined;
    if (this.#underWay.size >= (isTrusted ? inFlightMax : strangersInFlightMax)) return false;
    const bucket = isTrusted ? this.#trustedBucket : this.#strangersBucket;
    return bucket.take(this.#options.now());
  }

  async #ask(question: string, ask: () => Promise<T>): Promise<T> {
    const { ttl, isGood } = this.#options;
    try {
      const answer = await ask();
      const good = isGood(answer);
      (good ? this.#good : this.#others).set(question, answer, ttl(answer));
      if (good) this.#trusted.set(question, true, trustMs);
      return answer;
    } catch (error) {
      this.#failed.set(question, error, failureMs);
      throw error;
    }
  }
}
