// Whether the API server is back, by any answer of it.
import type { Instant, Millis } from '@taintmgr/core/time';

/** Leases are asked about every 2 s: a server of which nothing good is heard for longer is away. */
const awayMsMin: Millis = 5000;

/** Of so many requests is known that they were answered; more are not under way for long. */
const answeredMax = 10_000;

interface Heard {
  readonly kind: string;
  readonly id?: string;
  readonly status?: number;
}

/** Tells when the API server answers again that did not answer. */
export class ServerAbsence {
  #heardAt: Instant = Number.POSITIVE_INFINITY;
  /** Whether a request has come to nothing since then: that time has passed does not say so. */
  #isMissed = false;
  /** The requests whose answers have begun: what breaks off then was answered. */
  readonly #answered = new Set<string>();

  /** Whether this is the first that is heard of it after it was away. */
  hear(now: Instant, { kind, id = '', status = 0 }: Heard): boolean {
    if (kind === 'end') this.#answered.delete(id);
    const isAnswer = kind === 'head' || kind === 'answer';
    const isMore = kind === 'chunk' || kind === 'alive';
    const isFailure = kind === 'failed' && !this.#answered.delete(id);
    if (isFailure || (isAnswer && status >= 500)) this.#isMissed = true;
    // The body of a refusal is no good answer either.
    const isGood = isAnswer ? status >= 200 && status < 300 : isMore && this.#answered.has(id);
    if (!isGood) return false;
    if (kind === 'head') this.#note(id);
    const isBack = isAnswer && this.#isMissed && now - this.#heardAt >= awayMsMin;
    this.#heardAt = now;
    this.#isMissed = false;
    return isBack;
  }

  /** Nobody says when a request is hung up. */
  #note(id: string): void {
    if (this.#answered.size >= answeredMax) this.#answered.clear();
    this.#answered.add(id);
  }
}
