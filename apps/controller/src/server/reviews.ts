import type { Millis } from '@taintmgr/core/time';
import { TokenBucket } from '../rate-limit/rate-limit.ts';

/** The API server would be asked too often; the client may try again in a second. */
export class TooManyReviewsError extends Error {
  override readonly name = 'TooManyReviewsError';
  override readonly message = 'too many reviews, please try again later';
}

interface ReviewOptions<T> {
  /** The time that an answer holds. */
  readonly ttl: (answer: T) => Millis;
  /** Tells if a client with this answer is served before strangers, for an hour. */
  readonly isGood: (answer: T) => boolean;
  /** A clock in milliseconds that does not go back. */
  readonly now: () => number;
}

const answersMax = 1000;

export const reviewLimits = {
  /** Of strangers, at once and in a second. */
  strangers: { inFlightMax: 16, perSecond: 10 },
  /** Of one stranger: others come too. Of one recently admitted sender: independent of strangers. */
  sender: { inFlightMax: 8, perSecond: 5 },
} as const;
const { strangers, sender: each } = reviewLimits;
/** Under way in all, for a recently admitted sender, and for a question that was admitted recently. */
const [sendersInFlightMax, inFlightMax] = [24, 32];
const [trustedPerSecond, trustedBurst] = [50, 100];
/** Of one sender: the holder of one token may get a thousand. */
const [ownPerSecond, ownBurst] = [10, 20];
/** The time in which a question that could not be answered is not asked again. */
const failureMs: Millis = 1000;
/** For this time an admitted sender does not queue with strangers. */
const trustMs: Millis = 3_600_000;

/** The sender of questions, as far as a stranger cannot choose it. */
class Sender {
  readonly bucket = new TokenBucket(each.perSecond, each.inFlightMax);
  /** For questions that were recently answered with a yes. */
  readonly trusted = new TokenBucket(ownPerSecond, ownBurst);
  inFlight = 0;
}

/**
 * Asks the API server about users, within bounds. Answers hold a while, and a question is asked once at a
 * time. Strangers can neither make us ask without end nor push out the answers about admitted clients.
 */
export class Reviews<T> {
  readonly #good: TtlCache<T>;
  readonly #others: TtlCache<T>;
  readonly #failed: TtlCache<unknown>;
  readonly #trusted: TtlCache<true>;
  /** Admitted senders, and the others, who cannot push the admitted ones out. */
  readonly #senders: TtlCache<Sender>;
  readonly #strangers: TtlCache<Sender>;
  readonly #underWay = new Map<string, Promise<T>>();
  readonly #strangersBucket = new TokenBucket(strangers.perSecond, strangers.inFlightMax);
  readonly #trustedBucket = new TokenBucket(trustedPerSecond, trustedBurst);
  readonly #options: ReviewOptions<T>;

  constructor(options: ReviewOptions<T>) {
    const { now } = options;
    this.#options = options;
    this.#good = new TtlCache(answersMax, now);
    this.#others = new TtlCache(answersMax, now);
    this.#failed = new TtlCache(answersMax, now);
    this.#trusted = new TtlCache(answersMax, now);
    this.#senders = new TtlCache(answersMax, now);
    this.#strangers = new TtlCache(answersMax, now);
  }

  /**
   * The answer to a question from an address, or from a user that the API server knows. Rejects with
   * TooManyReviewsError, or with what `ask` rejects with.
   */
  async answer(question: string, from: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#good.get(question) ?? this.#others.get(question);
    if (known !== undefined) return known;
    const failure = this.#failed.get(question);
    if (failure !== undefined) throw failure;
    const running = this.#underWay.get(question);
    if (running !== undefined) return await running;
    const sender = this.#senderOf(from);
    if (!this.#mayAsk(question, from, sender)) throw new TooManyReviewsError();
    sender.inFlight += 1;
    const asking = this.#ask(question, from, sender, ask).finally(() => {
      sender.inFlight -= 1;
      this.#underWay.delete(question);
    });
    this.#underWay.set(question, asking);
    return await asking;
  }

  #senderOf(from: string): Sender {
    const known = this.#senders.get(from) ?? this.#strangers.get(from);
    if (known) return known;
    const sender = new Sender();
    this.#strangers.set(from, sender, trustMs);
    return sender;
  }

  #mayAsk(question: string, from: string, sender: Sender): boolean {
    const now = this.#options.now();
    const { size: inFlight } = this.#underWay;
    if (this.#trusted.get(question) !== undefined) {
      const hasRoom = inFlight < inFlightMax && sender.trusted.take(now);
      return hasRoom && this.#trustedBucket.take(now);
    }
    if (sender.inFlight >= each.inFlightMax || !sender.bucket.take(now)) return false;
    if (this.#senders.get(from) !== undefined) return inFlight < sendersInFlightMax;
    return inFlight < strangers.inFlightMax && this.#strangersBucket.take(now);
  }

  async #ask(question: string, from: string, sender: Sender, ask: () => Promise<T>): Promise<T> {
    const { ttl, isGood } = this.#options;
    try {
      const answer = await ask();
      const good = isGood(answer);
      (good ? this.#good : this.#others).set(question, answer, ttl(answer));
      if (good) {
        this.#trusted.set(question, true, trustMs);
        this.#senders.set(from, sender, trustMs);
      }
      return answer;
    } catch (error) {
      this.#failed.set(question, error, failureMs);
      throw error;
    }
  }
}

/** Values that hold for a while, at most `size` of them: the oldest make room. */
export class TtlCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>();
  readonly #size: number;
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that does not go back. */
  constructor(size: number, now: () => number) {
    this.#size = size;
    this.#now = now;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Nothing is kept for a time of 0. */
  set(key: string, value: T, ttl: Millis): void {
    this.#entries.delete(key);
    if (ttl <= 0) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= this.#size) this.#entries.delete(oldest);
    this.#entries.set(key, { value, until: this.#now() + ttl });
  }
}
