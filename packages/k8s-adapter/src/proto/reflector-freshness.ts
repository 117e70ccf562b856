// How old what a reflector knows may be.
import type { Instant } from '@taintmgr/core/time';

/** As of when what was read is complete, and when its source was last alive. */
export class Freshness {
  #heardAt: Instant | null = null;
  #aliveAt: Instant | null = null;
  /** When the list under way was asked for. */
  #askedAt: Instant | null = null;

  /**
   * As of when the picture is known to be complete: when the list was asked for, and then each event,
   * bookmark and sign of life of the connection. What comes right after a watch was opened, or after a
   * quiet time, may be old news and does not count. Null: not yet.
   */
  get heardAt(): Instant | null {
    return this.#heardAt;
  }

  /**
   * When the list or its stream last said anything, be it only that nothing has changed; null: it is
   * not read yet. Unlike heardAt it goes on where little happens: a bookmark after a long quiet time may
   * have waited, so that it says nothing about now, but that the stream lives.
   */
  get aliveAt(): Instant | null {
    return this.#aliveAt;
  }

  /** A list is asked for: what it will say is as of now. */
  ask(now: Instant): void {
    this.#askedAt = now;
  }

  /** That list is read. */
  read(): void {
    this.#heardAt = this.#askedAt;
    this.#aliveAt = this.#askedAt;
  }

  /** The stream said something. */
  live(now: Instant): void {
    this.#aliveAt = now;
  }

  /** Everything up to `instant` was heard of. */
  hear(instant: Instant): void {
    this.#heardAt = Math.max(instant, this.#heardAt ?? instant);
  }
}
