import type { Instant } from '../../kernel/time.ts';

/** How upstream limits a zone. `never` and `always` both report one token a second. */
export type LimiterKind = 'tokenBucket' | 'never' | 'always';

const nanosPerSecond = 1e9;

/**
 * golang.org/x/time/rate as the zone queues use it, rounding included: a 32-bit rate, a refusal
 * that changes nothing, and a rate of 0 that still has the tokens it began with.
 */
export class UpstreamLimiter {
  readonly kind: LimiterKind;
  readonly qps: number;
  readonly #burst: number;
  #tokens: number;
  #last: Instant;

  constructor(kind: LimiterKind, now: Instant, qps = 1, burst = 1) {
    this.kind = kind;
    this.qps = Math.fround(qps);
    this.#burst = burst;
    this.#tokens = burst;
    this.#last = now;
  }

  /** Takes a token if there is one. */
  tryAccept(now: Instant): boolean {
    if (this.kind !== 'tokenBucket') return this.kind === 'always';
    const elapsed = Math.max(0, now - this.#last);
    const seconds = Math.trunc(elapsed / 1000) + ((elapsed % 1000) * 1e6) / nanosPerSecond;
    const tokens = Math.min(this.#burst, this.#tokens + seconds * this.qps) - 1;
    if (tokens < 0 && Math.trunc((-tokens / this.qps) * nanosPerSecond) > 0) return false;
    this.#tokens = tokens;
    this.#last = now;
    return true;
  }
}

/**
 * What SwapLimiter makes of a limiter. Defect: one that never lets through reports a rate of 1, so
 * that a new rate of 1 changes nothing.
 */
export function swapLimiter(limiter: UpstreamLimiter, now: Instant, rate: number): UpstreamLimiter {
  const qps = Math.fround(rate);
  if (limiter.qps === qps) return limiter;
  if (qps <= 0) return new UpstreamLimiter('never', now);
  const next = new UpstreamLimiter('tokenBucket', now, qps);
  if (!limiter.tryAccept(now)) next.tryAccept(now);
  return next;
}
