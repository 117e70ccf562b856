// Whether the other end of a connection is still there.
import type { Millis } from '@taintmgr/core/time';

/** What a connection does about it. */
export interface LifeHandlers {
  /** Asks the other end for a sign of life. */
  readonly ask: () => void;
  /** The other end is: nothing came since it was asked, and nothing at all for so long. */
  readonly gone: (forMs: Millis) => void;
}

/**
 * Asks the other end of a connection for a sign of life now and then, and says so when there is none within the
 * time until the next question. Whatever comes is a sign.
 */
export class SignsOfLife {
  readonly #every: Millis;
  readonly #clock: () => Millis;
  readonly #handlers: LifeHandlers;
  #heardAt: Millis;
  /** When each question went out that is not answered. */
  readonly #asked: Millis[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** Asks each `every` milliseconds between begin and end. */
  constructor(every: Millis, clock: () => Millis, handlers: LifeHandlers) {
    this.#every = every;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#heardAt = clock();
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#ask(), this.#every);
  }

  end(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = this.#clock();
  }

  /** The oldest question was answered: how long ago it was asked. */
  answered(): Millis {
    return this.#clock() - (this.#asked.shift() ?? this.#heardAt);
  }

  #ask(): void {
    const askedAt = this.#clock();
    this.#asked.push(askedAt);
    this.#handlers.ask();
    const timer = setTimeout(() => {
      // What came while this process was busy is looked at before the other end is given up.
      setImmediate(() => {
        if (timer === this.#timer) this.#judge(askedAt);
      });
    }, this.#every);
    this.#timer = timer;
  }

  #judge(askedAt: Millis): void {
    if (this.#heardAt >= askedAt) this.#ask();
    else this.#handlers.gone(this.#clock() - this.#heardAt);
  }
}
