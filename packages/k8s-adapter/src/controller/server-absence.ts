// Whether the API server is back, by any answer of it.
import type { Instant, Millis } from '@taintmgr/core/time';

/** Leases are asked about every 2 s: a server of which nothing good is heard for longer is away. */
const awayMsMin: Millis = 5000;

interface Heard {
  readonly kind: string;
  readonly status?: number;
}

/** Tells when the API server answers again of which nothing was heard. */
export class ServerAbsence {
  #heardAt: Instant = Number.POSITIVE_INFINITY;

  /** Whether this is the first that is heard of it after it was away. */
  hear(now: Instant, { kind, status = 0 }: Heard): boolean {
    const isAnswer = kind === 'head' || kind === 'answer';
    const isGood = isAnswer ? status >= 200 && status < 300 : kind === 'chunk' || kind === 'alive';
    if (!isGood) return false;
    const isBack = isAnswer && now - this.#heardAt >= awayMsMin;
    this.#heardAt = now;
    return isBack;
  }
}
